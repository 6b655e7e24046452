#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two machines that record while one of them asks and the other one answers: two guests of qemu, as run.sh boots them, with
# a cable between them and clocks of their own. two_guests.sh BUILD_DIR
#   KERNELS, BOOT_SECONDS, TEST_SECONDS  as in run.sh
#   KEEP  a folder that is made, for what the guests said and left
# Their traces are walked here: the client's waits have to go on at the thread of the server that answered, and to what
# that waited for, for as long as it says; and how far its clock is ahead has to be what questions for the time say. Three
# times: with clocks that go alike, that drift apart as clocks do that are set right, and that drift as no clock may.
# Needs no root. What cannot be had is skipped by name.
set -u
O=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
export LC_ALL
kernels=${KERNELS:-linux-image-6.12-amd64} # data that comes to a socket is known since 6.3
guest="kernels/guest/asks.sh kernels/guest/answers.sh"
modules="configfs null_blk e1000"
boot_seconds=${BOOT_SECONDS:-900} test_seconds=${TEST_SECONDS:-600}
tools=flock cpus=2 memory=1G
# shellcheck source=tests/kernels/qemu.sh
. kernels/qemu.sh

wrong() {
	echo "  FAIL $1"
	good=false
}

# at_least WHAT LEAST GOT
at_least() {
	awk -v least="$2" -v got="$3" 'BEGIN { exit !(got + 0 >= least + 0) }' || wrong "$1: expected at least $2, got $3"
}

# here REGEX [EXCEPT]: ns of the folded lines that match the one, and not the other
here() {
	REGEX=$1 EXCEPT=${2:-^$} awk '$0 ~ ENVIRON["REGEX"] && $0 !~ ENVIRON["EXCEPT"] { n += $NF } END { printf "%.0f\n", n }' "$tmp/folded"
}

# served WHAT: ns that the server took for these, by its own clock
served() {
	awk -v what="$1" '$1 == what { n += $3 - $2 } END { printf "%.0f\n", n }' "$tmp/out/served_$rate"
}

# walk: to $tmp/folded and $tmp/told; $line says what was joined, of which $ended, $joined are numbers.
walk() {
	"$O/chainwalk" --unit=ns -c '^client$' --state=blocked "$tmp/out/client_$rate.bin" "$tmp/out/server_$rate.bin" \
		>"$tmp/folded" 2>"$tmp/told" || wrong "chainwalk: exit $?: $(cat "$tmp/told")"
	line=$(grep '^chainwalk: client: of [0-9]* waits that answers of server ended, ' "$tmp/told")
	ended=$(echo "$line" | sed 's/.*: of \([0-9]*\) waits.*/\1/')
	joined=$(echo "$line" | sed 's/.* ended, \([0-9]*\) are.*/\1/')
}

# clock_is_right DRIFTS: by each question for the time the server's clock is ahead by the answer less a time from before
# until after it. Clocks that drift are so far apart at any moment as they are between the first and the last question;
# of those that took more than twice as long as the quickest one nothing is believed then.
clock_is_right() {
	echo "$line" | awk -v drifts="$1" '
		FILENAME == "-" {
			ahead = $0; sub(/.*its clock is /, "", ahead); behind = ahead ~ /^[0-9.]* s behind/; sub(/ s .*/, "", ahead)
			ns = $0; sub(/.*known to /, "", ns); sub(/ us.*/, "", ns)
			ahead = (behind ? -1 : 1) * ahead * 1e9
			ns *= 1000
			next
		}
		{ n++; low[n] = $2 - $3; high[n] = $2 - $1; if (n == 1 || $3 - $1 < least) least = $3 - $1 }
		END {
			for (i = 1; i <= n; i++) {
				if (drifts && high[i] - low[i] > 2 * least) continue
				if (from == "" || (drifts ? low[i] < from : low[i] > from)) from = low[i]
				if (to == "" || (drifts ? high[i] > to : high[i] < to)) to = high[i]
			}
			printf "  note: ahead by %.6f s, known to %.6f; by questions for the time from %.6f to %.6f\n",
				ahead / 1e9, ns / 1e9, from / 1e9, to / 1e9
			exit !(n && from <= to && to - from < 50e6 && ns < 50e6 && ahead - ns / 2 <= to + 1 && ahead + ns / 2 >= from - 1)
		}' - "$tmp/out/exchanges_$rate" || wrong "the clocks: $line"
}

# goes_on WHAT REGEX LEAST_NS [MOST_NS [EXCEPT]]: what the server did in answering stands behind its name.
goes_on() {
	ns=$(here "^client;.*;\[network\];\[tcp\];\[on server\];\[request tcp :[0-9]*( first)?\] server;.*$2" "${5:-}")
	at_least "$1: ns, of $(served "$1")" "$3" "$ns"
	[ "$ns" -le "${4:-$ns}" ] || wrong "$1: the server took $4 ns, of which $ns"
	echo "  note: $1: $ns ns of $(served "$1")"
}

# judge: the traces of both
judge() {
	good=true
	for rate in alike apart away; do
		walk
		echo "  $rate: $line"
		if [ $rate = away ]; then
			echo "$line" | grep -q contradict || wrong "the clocks cannot be believed: $line"
			[ "$(here ';\[on server\]')" = 0 ] || wrong "lines go on at the server nevertheless"
			continue
		fi
		at_least "waits that answers ended" 20 "$ended"
		at_least "of these, explained there, of $ended" 15 "$joined"
		clock_is_right "$([ $rate = alike ] || echo drifts)"
		! echo "$line" | grep -q contradict || wrong "the clocks are believable: $line"
		# Eight of each: slept 100 ms, read from a disk that takes 50 ms, waited for a lock for 500 ms, less what it took
		# to start the program that waits, and computed; it ran in other questions, too. Five of eight are enough: who
		# sent what ksoftirqd, a thread, brought instead of an interrupt is not looked for.
		goes_on sleep ';sleep;--;.*;\[timer\] ' 500000000 "$(served sleep)" ';holder;'
		goes_on disk ';dd;.*;\[disk known read\];\[device\] ' 250000000 "$(served disk)"
		goes_on lock ';flock;--;.*;holder;' 800000000 "$(served lock)"
		goes_on work ';server;\[running\] ' $(($(served work) / 2))
	done
	$good
}

for k in $kernels; do
	architecture "$k"
	command -v "${qemu_command%% *}" >/dev/null || { skip "$k, two of them" "no ${qemu_command%% *}"; continue; }
	"${qemu_command%% *}" -netdev help 2>/dev/null | grep -qx dgram || { skip "$k, two of them" "before qemu 7.2 there is no -netdev dgram"; continue; }
	build || { skip "$k, two of them" "$(echo "$why" | head -n 1)"; continue; }
	initramfs || exit 2
	find_kernel "$k" || { skip "$k, two of them" "$(echo "$why" | head -n 1)"; continue; }
	echo "$package, two of them:"
	begin=$(date +%s)
	only=kernels/guest/answers.sh
	start_guest server "$vmlinuz" -device e1000,netdev=net,romfile=,mac=52:54:00:00:00:02 \
		-netdev "dgram,id=net,local.type=unix,local.path=$tmp/server.net,remote.type=unix,remote.path=$tmp/client.net"
	sleep 5 # their clocks begin when they do
	only=kernels/guest/asks.sh
	start_guest client "$vmlinuz" -device e1000,netdev=net,romfile=,mac=52:54:00:00:00:01 \
		-netdev "dgram,id=net,local.type=unix,local.path=$tmp/client.net,remote.type=unix,remote.path=$tmp/server.net"
	# shellcheck disable=SC2086 # a list
	wait $guests
	guests=
	took=$(($(date +%s) - begin))
	mkdir "$tmp/both"
	all=true
	for name in server client; do
		guest_passed $name || { all=false; guest_failed $name; }
		what_it_left $name
		mv "$tmp/out"/* "$tmp/both"
	done
	rm -rf "$tmp/out" && mv "$tmp/both" "$tmp/out"
	[ -z "${KEEP:-}" ] || cp -R "$tmp" "$KEEP"
	if $all && judge; then
		passed=$((passed + 1))
		echo "ok   kernel $package, two of them ($took s)"
	else
		failed=$((failed + 1))
		echo "FAIL kernel $package, two of them ($took s)"
	fi
done
sums
