// SPDX-License-Identifier: GPL-2.0-or-later
/* module: see module.h. */
#include "collectors/live/agent/module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "collectors/live/agent/supervise.h"
#include "collectors/live/agent/sysfs.h"
#include "collectors/live/agent/transition.h"

#define KLP "kernel/livepatch"

bool module_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n < MODULE_NAME && !name[n];
}

bool module_loaded(const char *name)
{
	return sys_exists("module", name, "");
}

bool module_enabled(const char *name)
{
	return module_loaded(name) && sys_number(KLP, name, "enabled") == 1;
}

bool module_is_kab(const char *name)
{
	return module_name_ok(name) && !strncmp(name, "kab_", 4) && sys_exists("module", name, "parameters/variant");
}

void module_variant_now(const char *name, char *value, size_t size)
{
	sys_line("module", name, "parameters/variant", value, size);
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

int module_load(const char *name, const void *ko, size_t len, const char *params,
		const struct module_wait *w, struct module_took *t,
		struct err *err)
{
	uint64_t began;
	int fd, rc;

	if (module_loaded(name))
		return err_add(err, -EEXIST, "A module named %s is loaded already, and not by this agent; unload it first "
			       "(`kab patch unload`, or rmmod %s).", name, name);
	fd = memfd_of(ko, len);
	if (fd < 0)
		return err_sys(err, errno, "Cannot hold the module %s in memory", name);
	began = transition_now();
	rc = (int)syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	if (t)
		t->call_ns += transition_now() - began;
	close(fd);
	if (rc)
		return explain_load(-rc, name, err);
	rc = transition_wait(name, true, w, t, err);
	if (rc)
		module_remove(name, NULL, NULL, NULL);
	return rc;
}

int module_variant(const char *name, const char *variant, struct module_took *t, struct err *err)
{
	uint64_t began = transition_now();
	int rc = sys_write("module", name, "parameters/variant", variant);

	if (t)
		t->call_ns += transition_now() - began;
	if (rc)
		return err_sys(err, -rc, "Cannot switch the module %s to %s", name, variant);
	return 0;
}

int module_disable(const char *name, const struct module_wait *w, struct module_took *t, struct err *err)
{
	uint64_t began = transition_now(), until = began + transition_patience(w) * 1000000000ull;
	int rc;

	/* The write itself may go all the way. Once the way out has begun, `enabled` reads 0 and the folder goes at its end. */
	while (sys_number(KLP, name, "enabled") == 1) {
		rc = sys_write(KLP, name, "enabled", "0");
		if (rc && rc != -EBUSY && rc != -ENOENT && rc != -ENODEV)
			return err_sys(err, -rc, "Cannot disable the livepatch %s", name);
		if (rc == -EBUSY && transition_now() > until)
			return err_add(err, -ETIMEDOUT, "The livepatch %s could not be disabled: the transition of another "
				       "livepatch has been under way for %u s (`grep . /sys/kernel/livepatch/*/transition`).",
				       name, transition_patience(w));
		if (rc == -EBUSY && !transition_pause(w))
			return err_add(err, -ECANCELED, "Disabling the livepatch %s was cancelled.", name);
	}
	if (t)
		t->transition_ns += transition_now() - began;
	return sys_exists(KLP, name, "") ? transition_wait(name, false, w, t, err) : 0;
}

int module_remove(const char *name, const struct module_wait *w, struct module_took *t, struct err *err)
{
	int rc = module_disable(name, w, t, err);
	uint64_t began = transition_now(), until = began + transition_patience(w) * 1000000000ull;

	/* The last tasks may still be on their way out of the module's code. */
	while (!rc && syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if (errno == ENOENT)
			break;
		if ((errno != EAGAIN && errno != EBUSY && errno != EWOULDBLOCK) || transition_now() > until)
			rc = err_sys(err, errno, "Cannot unload the module %s", name);
		else if (!transition_pause(w))
			rc = err_add(err, -ECANCELED, "Unloading the module %s was cancelled.", name);
	}
	if (t)
		t->call_ns += transition_now() - began;
	return rc;
}
