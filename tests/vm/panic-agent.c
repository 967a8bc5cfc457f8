// SPDX-License-Identifier: GPL-2.0-or-later
/* panic-agent: takes the agent's place in a guest and crashes its kernel at once, by the sysrq key c. */
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY);

	return fd < 0 || write(fd, "c", 1) != 1;
}
