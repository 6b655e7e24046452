#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# However long it runs, a flight recorder takes no more memory than its window needs: under switches at
# full speed, under stacks without end, and under processes without end; and with --max-size not even
# that. What it takes is printed.
# Beside another: the window bounds what is kept of others' events, too.
. "$(dirname "$0")/lib.sh"
only_all "how much memory it takes in the long run"
needs_bpf

# rss: of the recorder in KiB without the ring buffers, which are the kernel's memory
rss() {
	awk '$1 == "RssAnon:" { print $2 }' "/proc/$recorder/status"
}

# highest SECONDS
highest() {
	most=0
	for _ in $(seq $(($1 * 5))); do
		sleep 0.2
		now=$(rss)
		[ "$now" -le $most ] || most=$now
	done
	echo "$most"
}

# bounded WHAT MOST_KIB: it stays below a bound, and comes to an end of growing: in a second, which is twice the
# window, less than 1.3 % and 0.7 MiB.
bounded() {
	before=$(highest 1)
	! is_sanitized || return 0
	all=$((before / 1024))
	for _ in $(seq 18); do
		later=$(highest 1)
		all="$all, $((later / 1024))"
		expect_at_most "$1: memory, KiB" "$2" "$later" "$tmp/err.cap"
		[ "$later" -gt $((before + before / 75 + 683)) ] || break
		before=$later
	done
	echo "note: $1: $all MiB, each in 1 s; at most $(($2 / 1024))"
	expect_at_most "$1: memory goes on growing: $all MiB; KiB" $((before + before / 75 + 683)) "$later"
}

finish() {
	end_recording
	expect_whole "$1"
	for pid in $load_pid; do
		kill "$pid"
		wait "$pid"
	done 2>/dev/null
}

busy 600
load_pid=$!
started="$started $load_pid"
fly "$tmp/fast" --flight 500ms
bounded "switches at full speed, half a second of them" 81920
finish "$tmp/fast"

"$load" stacks --hops pipe --rounds 1000000000 --seconds 600 >/dev/null &
load_pid=$!
started="$started $load_pid"
# Rings for more than a second of this: a recorder that gets no CPU for as long loses nothing.
fly "$tmp/stacks.bin" --flight 500ms --buffer-size 64M
bounded "a new stack at each switch, half a second of them" 204800
kill -USR1 $recorder
wait_for "a trace on SIGUSR1" 20 written "$tmp/stacks.bin"
expect_whole "$tmp/stacks.bin"
"$walk" -q --format=folded -c rover "$tmp/stacks.bin" >"$tmp/folded" 2>"$tmp/err"
expect_at_least "stacks that end in rover_waits" 100 "$(grep -c ';rover_waits;' "$tmp/folded")"
finish "$tmp/stacks.1.bin"

"$load" stacks --hops pipe --rounds 1000000000 --seconds 600 >/dev/null &
load_pid=$!
started="$started $load_pid"
sh -c 'while :; do /bin/true; done' &
load_pid="$load_pid $!"
started="$started $!"
fly "$tmp/small" --flight 30s --max-size 4M
began=$(date +%s%N)
bounded "stacks and processes, --max-size 4M" 131072
lasted=$(($(date +%s%N) - began))
finish "$tmp/small"
# Where most was lost, the rest may be no more than 4 MiB: then it has to be all since the beginning.
grep -q "$tmp/small: only the last [0-9.]* s" "$tmp/err.cap" ||
	expect_at_least "that the window is shorter than asked for is not said; its length, ns" "$lasted" \
		"$(duration "$tmp/small")" "$tmp/err.cap"
