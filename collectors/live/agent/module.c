// SPDX-License-Identifier: GPL-2.0-or-later
/* module: see module.h. */
#include "collectors/live/agent/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "collectors/live/agent/supervise.h"

#define PATIENCE_S 60		/* for a transition: a task asleep in the patched function holds it up */
#define SYS_PATH 160

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool pause_once(const struct module_wait *w)
{
	const struct timespec tick = { 0, 20000000 };

	if (w)
		return w->pause(w->ctx);
	nanosleep(&tick, NULL);
	return true;
}

bool module_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n < MODULE_NAME && !name[n];
}

static bool sys_exists(const char *dir, const char *name, const char *file)
{
	char path[SYS_PATH];

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	return access(path, F_OK) == 0;
}

static int sys_write(const char *dir, const char *name, const char *file, const char *text)
{
	char path[SYS_PATH];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* The number in a file, or -errno. */
static int sys_number(const char *dir, const char *name, const char *file)
{
	char path[SYS_PATH];
	int value = -EINVAL;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%d", &value) != 1)
		value = -EINVAL;
	fclose(f);
	return value;
}

bool module_loaded(const char *name)
{
	return sys_exists("module", name, "");
}

bool module_enabled(const char *name)
{
	return module_loaded(name) && sys_number("kernel/livepatch", name, "enabled") == 1;
}

static int wait_transition(const char *name, const struct module_wait *w, struct err *err)
{
	double until = now_s() + PATIENCE_S;

	while (sys_number("kernel/livepatch", name, "transition") == 1) {
		if (now_s() > until)
			return err_add(err, -ETIMEDOUT,
				       "The livepatch %s was not in force everywhere after %d s: a task "
				       "sleeps in the function it replaces.",
				       name, PATIENCE_S);
		if (!pause_once(w))
			return err_add(err, -ECANCELED, "Loading the module %s was cancelled.", name);
	}
	return 0;
}

static int memfd_of(const void *data, size_t len)
{
	int fd = memfd_create("kab-module", MFD_CLOEXEC);
	const char *p = data;

	while (fd >= 0 && len) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			int num = errno;

			close(fd);
			errno = num;
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return fd;
}

static int explain_load(int num, const char *name, struct err *err)
{
	switch (num) {
	case ENOSYS:
		return err_add(err, -num,
			       "This kernel cannot load modules (it was built without CONFIG_MODULES); "
			       "measure in the lab instead (-t vm).");
	case EPERM:
		return err_add(err, -num,
			       "Loading the module %s is not permitted: it takes root, and a kernel that "
			       "is not locked down (modules_disabled, Secure Boot).",
			       name);
	case EKEYREJECTED:
		return err_add(err, -num,
			       "The kernel wants signed modules only and refused %s; turn Secure Boot off "
			       "or measure in the lab (-t vm).",
			       name);
	case ENOEXEC:
		return err_add(err, -num,
			       "The kernel refused the module %s as not made for it; build it against this "
			       "kernel's headers.",
			       name);
	default:
		return err_sys(err, num, "The kernel refused the module %s", name);
	}
}

int module_load(const char *name, const void *ko, size_t len, const struct module_wait *w, struct err *err)
{
	int fd, rc;

	if (module_loaded(name))
		return err_add(err, -EEXIST,
			       "A module named %s is loaded already, and not by this agent; unload it "
			       "first (rmmod %s).",
			       name, name);
	fd = memfd_of(ko, len);
	if (fd < 0)
		return err_sys(err, errno, "Cannot hold the module %s in memory", name);
	rc = (int)syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	if (rc)
		return explain_load(-rc, name, err);
	rc = wait_transition(name, w, err);
	if (rc)
		module_remove(name, NULL, NULL);
	return rc;
}

int module_variant(const char *name, const char *variant, struct err *err)
{
	int rc = sys_write("module", name, "parameters/variant", variant);

	if (rc)
		return err_sys(err, -rc, "Cannot switch the module %s to %s", name, variant);
	return 0;
}

int module_disable(const char *name, const struct module_wait *w, struct err *err)
{
	double until = now_s() + PATIENCE_S;
	int rc = 0;

	while (sys_exists("kernel/livepatch", name, "")) {
		/* EBUSY: another transition. Once ours has begun `enabled` reads 0; then the folder goes. */
		if (sys_number("kernel/livepatch", name, "enabled") == 1)
			rc = sys_write("kernel/livepatch", name, "enabled", "0");
		if (rc && rc != -EBUSY && rc != -ENOENT && rc != -ENODEV)
			return err_sys(err, -rc, "Cannot disable the livepatch %s", name);
		if (now_s() > until)
			return err_add(err, -ETIMEDOUT,
				       "The livepatch %s was still in force after %d s: a task sleeps in "
				       "the function it replaces.",
				       name, PATIENCE_S);
		if (!pause_once(w))
			return err_add(err, -ECANCELED, "Disabling the livepatch %s was cancelled.", name);
	}
	return 0;
}

int module_remove(const char *name, const struct module_wait *w, struct err *err)
{
	double until = now_s() + PATIENCE_S;
	int rc = module_disable(name, w, err);

	/* The last tasks may still be on their way out of the module's code. */
	while (!rc && syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if (errno == ENOENT)
			break;
		if ((errno != EAGAIN && errno != EBUSY && errno != EWOULDBLOCK) || now_s() > until)
			rc = err_sys(err, errno, "Cannot unload the module %s", name);
		else if (!pause_once(w))
			rc = err_add(err, -ECANCELED, "Unloading the module %s was cancelled.", name);
	}
	return rc;
}
