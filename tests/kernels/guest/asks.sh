#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The other one of two machines (two_guests.sh): records while it asks what answers.sh answers. Traces are left in
# /tmp/out, and of each question for the time when it was asked, the answer, and when that was there: exchanges_RATE.
. "$(dirname "$0")/../../e2e/lib.sh"
# shellcheck source=tests/kernels/guest/clock.sh
. "$(dirname "$0")/clock.sh"
needs_bpf
hostname client
date -s '2020-02-20 20:20' >"$tmp/out"
ip link set eth0 up && ip addr add 10.77.0.1/24 dev eth0 || fail "eth0 cannot be used"
mkdir -p /tmp/out
echo "note: clock source: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"

cat >"$tmp/asks" <<END
. "$(dirname "$0")/clock.sh"
printf client >/proc/\$\$/comm
exec 3<>/dev/tcp/10.77.0.2/\$1
ask() {
	echo "\$1" >&3
	read -r answer <&3 || exit 1
}
times() {
	for ((i = 0; i < 20; i++)); do
		read_clock
		from=\$clock
		ask time
		read_clock
		echo "\$from \$answer \$clock"
	done
}
times
for ((round = 0; round < 8; round++)); do
	for what in sleep work lock disk; do ask \$what; done
done
times
ask end
END
port=7000
for rate in $rates; do
	set_rate "$rate" -1
	wait_for "the server listens" 60 bash -c "exec 3<>/dev/tcp/10.77.0.2/$port" 2>"$tmp/refused"
	timeout 200 "$cap" -F 0 -o "/tmp/out/client_$rate.bin" -- bash "$tmp/asks" $port >"/tmp/out/exchanges_$rate" 2>"$tmp/err"
	expect_exit "chaincap -- asks" 0 $?
	expect_whole "/tmp/out/client_$rate.bin"
	port=$((port + 1))
done
