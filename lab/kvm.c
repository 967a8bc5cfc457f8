// SPDX-License-Identifier: GPL-2.0-or-later
/* kvm: see kvm.h. */
#include "lab/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

/* The path of the note in the cache; NULL without a cache. */
static char *note_path(void)
{
	char *dir = fs_cache_dir("lab", NULL), *path = dir ? mem_printf("%s/kvm-refused", dir) : NULL;

	free(dir);
	return path;
}

/* A new one at every boot of this machine. */
static bool boot_id(struct buf *id)
{
	return buf_read_file(id, "/proc/sys/kernel/random/boot_id", 64, NULL) == 0 && id->len;
}

static bool refused(void)
{
	struct buf id = BUF_INIT, note = BUF_INIT;
	char *path = note_path();
	bool same = path && boot_id(&id) && buf_read_file(&note, path, 64, NULL) == 0 &&
		    !strcmp(buf_str(&id), buf_str(&note));

	free(path);
	buf_release(&id);
	buf_release(&note);
	return same;
}

void kvm_refuse(void)
{
	struct buf id = BUF_INIT;
	char *path = note_path();

	/* Without the note the next boot merely tries KVM again. */
	if (path && boot_id(&id))
		fs_write(path, id.data, id.len, NULL);
	free(path);
	buf_release(&id);
}

bool kvm_usable(struct buf *why)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), e = errno, vm = -1;
	const char *text = "/dev/kvm works";
	bool ok = false;

	if (kvm < 0 && e == EACCES)
		text = "you may not use /dev/kvm: run `sudo adduser $USER kvm` and log in again";
	else if (kvm < 0)
		text = "there is no /dev/kvm";
	else if (ioctl(kvm, KVM_GET_API_VERSION, 0) != KVM_API_VERSION ||
		 (vm = ioctl(kvm, KVM_CREATE_VM, 0)) < 0)
		text = "/dev/kvm refuses to make a machine";
	else if (refused())
		text = "/dev/kvm is there, but a guest did not start with it";
	else
		ok = true;
	if (vm >= 0)
		close(vm);
	if (kvm >= 0)
		close(kvm);
	if (why)
		buf_puts(why, text);
	return ok;
}
