// SPDX-License-Identifier: GPL-2.0-or-later
/* memfile: see memfile.h. */
#include "lab/memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

int memfile(const char *what, const struct buf *data, struct err *err)
{
	int fd = memfd_create("kab", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;
	size_t done = 0;

	if (fd < 0)
		return err_sys(err, errno, "Cannot make a memory file for %s", what);
	while (done < data->len) {
		ssize_t n = write(fd, data->data + done, data->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR) {
			rc = err_sys(err, n ? errno : ENOSPC, "Cannot write %s to memory", what);
			close(fd);
			return rc;
		}
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
	return fd;
}
