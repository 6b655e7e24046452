#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One of two machines (two_guests.sh): records while it answers what the other one (asks.sh) asks, in a recording of its
# own for each of $rates. Traces are left in /tmp/out, and what the answers took by this machine's clock: lines "WHAT
# FROM_NS TO_NS" in served_RATE.
. "$(dirname "$0")/../../e2e/lib.sh"
# shellcheck source=tests/kernels/guest/null_disk.sh
. "$(dirname "$0")/null_disk.sh"
# shellcheck source=tests/kernels/guest/clock.sh
. "$(dirname "$0")/clock.sh"
needs_bpf
hostname server
ip link set eth0 up && ip addr add 10.77.0.2/24 dev eth0 || fail "eth0 cannot be used"
null_disk 50000000
mkdir -p /tmp/out

cat >"$tmp/server" <<END
. "$(dirname "$0")/clock.sh"
printf server >/proc/\$\$/comm
while read -r what; do
	read_clock
	from=\$clock
	case \$what in
	sleep) sleep 0.1 ;;
	work) for ((i = 0; i < 5000; i++)); do :; done ;;
	lock) echo >"$tmp/wanted" && flock "$tmp/lock" true ;;
	disk) dd if=/dev/$disk of=/dev/null bs=4k count=1 iflag=direct 2>"$tmp/err.dd" ;;
	end) : >"$tmp/end" ;;
	esac
	read_clock
	echo \$clock
	echo "\$what \$from \$clock" >>"$tmp/served"
done
END
# Has the lock, and gives it away for a moment half a second after it is wanted.
mkfifo "$tmp/wanted"
cat >"$tmp/holder" <<END
printf holder >/proc/\$\$/comm
while :; do
	exec 9>"$tmp/lock"
	flock 9
	read -r _ <"$tmp/wanted"
	sleep 0.5
	exec 9>&-
done
END
cat >"$tmp/serves" <<END
bash "$tmp/holder" &
holder=\$!
nc -ll -p \$1 -e bash "$tmp/server" &
server=\$!
until [ -e "$tmp/end" ]; do sleep 0.2; done
sleep 1
kill \$holder \$server
END
port=7000
for rate in $rates; do
	set_rate "$rate" 1
	rm -f "$tmp/end" "$tmp/served"
	# The other machine gets no connection before.
	timeout 200 "$cap" -F 0 -o "/tmp/out/server_$rate.bin" -- bash "$tmp/serves" $port >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- serves" 0 $?
	expect_whole "/tmp/out/server_$rate.bin"
	mv "$tmp/served" "/tmp/out/served_$rate"
	port=$((port + 1))
done
