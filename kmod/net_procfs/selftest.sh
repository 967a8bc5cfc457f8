#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests kab_net_procfs in a guest that can be thrown away: root, busybox sh, nothing else on the network.
#
#	selftest.sh kab_net_procfs.ko WORKLOAD
#
# KTAP on stdout; exit 0 when every test passed. A kernel warning counts as a failure of the last test.
name=kab_net_procfs
ko=$1 workload=$2
klp=/sys/kernel/livepatch/$name
variant=/sys/module/$name/parameters/variant
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
[ -r "$ko" ] && [ -x "$workload" ] || { echo "usage: selftest.sh kab_net_procfs.ko WORKLOAD"; exit 2; }

n=0 failed=0
result() {	# status description
	n=$((n + 1))
	[ "$1" -eq 0 ] && echo "ok $n $2" || { echo "not ok $n $2"; failed=$((failed + 1)); }
}

until_true() {	# command; a transition is retried by the kernel every second and pushed after 15
	for _ in $(seq 400); do
		eval "$1" && return 0
		sleep 0.1
	done
	return 1
}

load() {
	insmod "$ko" && until_true "[ \"\$(cat $klp/transition)\" = 0 ]"
}

unload() {
	echo 0 > $klp/enabled && until_true "[ ! -d $klp ]" && rmmod $name
}

# A new network namespace counts from zero, so the same pings give the same file whatever else goes on.
capture() {
	unshare -n sh -c 'ip link set lo up && ping -q -A -c 100 -s 60000 127.0.0.1 > /dev/null &&
		cat /proc/net/dev'
}

echo "KTAP version 1"
dmesg -c > /dev/null
capture > "$tmp/native"
grep -q 'lo: *[1-9]' "$tmp/native"
result $? "traffic is counted"

load
result $? "loads, and the transition ends"
[ "$(cat $variant)" = before ]
result $? "starts as before"

for v in before after; do
	echo $v > $variant && [ "$(cat $variant)" = $v ]
	result $? "reads back $v"
	capture > "$tmp/$v"
	cmp "$tmp/native" "$tmp/$v"
	result $? "$v prints what the kernel prints"
done

! echo between 2> /dev/null > $variant && [ "$(cat $variant)" = after ]
result $? "refuses another word and stays"

"$workload" 2000000 > /dev/null &
pid=$!
switched=0
for _ in $(seq 250); do
	echo before > $variant && echo after > $variant && switched=$((switched + 2))
done
kill -0 $pid && [ $switched -eq 500 ]
result $? "switches 500 times under the workload"
kill $pid
wait $pid 2> /dev/null

unload
result $? "unloads"
capture | cmp "$tmp/native" -
result $? "the kernel's own function is back"

for i in 1 2 3; do
	load && echo after > $variant && capture | cmp "$tmp/native" - && unload
	result $? "cycle $i: load, after, unload"
done

# The refusal above must have been said; that the kernel is tainted is what a livepatch does.
dmesg | grep -E 'WARNING|BUG|Oops|RIP:|Call Trace|soft lockup|scheduling while' > "$tmp/log"
[ ! -s "$tmp/log" ] && dmesg | grep -q 'neither "before" nor "after"'
result $? "the kernel log is clean"
cat "$tmp/log"

echo "1..$n"
[ $failed -eq 0 ]
