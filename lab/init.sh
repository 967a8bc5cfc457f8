#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first process of a lab guest: mounts what the agent needs, starts it on its
# port (or a shell, with kab.shell on the kernel's command line), and switches
# the machine off when that ends. It is part of kab, not of the initramfs' maker.

export PATH=/bin HOME=/root
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t tracefs tracefs /sys/kernel/tracing
mount -t securityfs securityfs /sys/kernel/security
ip link set lo up

while read -r module; do
	insmod "/lib/modules/$(uname -r)/$module.ko" || echo "kab: module $module did not load"
done < /etc/modules

# Sampling is not to be slowed down by the kernel's own idea of how much is too much.
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent

case " $(cat /proc/cmdline) " in
*" kab.shell "*)
	# A console message in the middle of a typed line helps nobody.
	dmesg -n 4
	[ -z "$KAB_ROWS" ] || stty rows "$KAB_ROWS" cols "$KAB_COLS"
	echo "kab: shell ready"
	setsid cttyhack sh -l
	poweroff -f
	;;
*" kab.script "*)
	dmesg -n 4
	stty -echo -onlcr
	echo "kab: shell ready"
	sh /dev/console
	# Not even the last word of the kernel belongs to a script's output.
	echo 0 > /proc/sys/kernel/printk
	poweroff -f
	;;
esac

# The names of the ports arrive from the host a moment after the driver is up.
port=
tries=0
while [ -z "$port" ] && [ $tries -lt 200 ]; do
	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name" 2>/dev/null)" = kab.agent ] && port=/dev/${p##*/}
	done
	[ -n "$port" ] || usleep 50000
	tries=$((tries + 1))
done
if [ -n "$port" ]; then
	echo "kab: agent on $port"
	# The serial line is slow, and its time would be measured: from here on, only warnings.
	dmesg -n 5
	kab-agent --port "$port"
	echo "kab: the agent ended with status $?"
	# Its worker may be undoing what it did.
	tries=0
	while pidof kab-agent > /dev/null && [ $tries -lt 900 ]; do
		usleep 100000
		tries=$((tries + 1))
	done
	left=$(grep -o '^kab_[^ ]*' /proc/modules | tr '\n' ' ')
	echo "kab: modules left: ${left:-none}"
else
	echo "kab: no port kab.agent; the kernel has no virtio_pci or no virtio_console"
fi
poweroff -f
