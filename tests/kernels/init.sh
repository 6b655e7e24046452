#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first process of the guest, run.sh's other half: runs the tests that /tests/list names, one
# path a line, and says on the console how each of them went. The last line, "guest: exit N", is
# what run.sh takes for the exit status; a kernel that does not get there does not say it.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run
/bin/busybox --install -s /bin 2>/dev/null # but what is there already
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmp /tmp
# Other recorders read these.
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
for module in $(echo "${modules:-}" | tr , ' '); do
	[ ! -e "/modules/$module.ko" ] || insmod "/modules/$module.ko"
done
ip link set lo up
hostname guest
PATH=/bin TMPDIR=/tmp HOME=/tmp
export PATH TMPDIR HOME
exec </dev/null >/dev/console 2>&1

uptime_s() { cut -d . -f 1 /proc/uptime; } # whatever tests do to the date

cd /tests || exit 1
out=${out:-ttyS1} # on the kernel's command line: the second serial line; and how long a test may take
passed=0 failed=0 skipped=0
[ -z "${only:-}" ] || echo "/tests/$only" >list
echo "guest: kernel $(uname -r)"
while read -r t; do
	name=$(basename "$t" .sh)
	begin=$(uptime_s)
	timeout "${seconds:-240}" bash "$t" /build >/tmp/log 2>&1 </dev/null
	status=$?
	took=$(($(uptime_s) - begin))
	# Nothing that these tests need can be missing here but what the recorder itself says that an older kernel
	# lacks: to skip one for any other reason is to fail.
	if [ $status -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok   $name ($took s)"
		grep '^note:' /tmp/log
	elif [ $status -eq 77 ] && grep -q ': this kernel refuses the usual BPF programs' /tmp/log; then
		skipped=$((skipped + 1))
		echo "SKIP $name: $(tail -n 1 /tmp/log | sed 's/: user stacks are found by .*//')"
	else
		failed=$((failed + 1))
		tail -n 60 /tmp/log
		echo "FAIL $name (exit $status, $took s)"
	fi
done <list

# What they left to be looked at outside, by the second serial line.
if [ -d /tmp/out ]; then
	stty raw -echo <"/dev/$out"
	tar -C /tmp/out -czf - . | base64 >"/dev/$out"
fi
echo "guest: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
echo "guest: exit $?"
sync
poweroff -f
