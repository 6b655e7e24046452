#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder is one thread in its own trace, whatever processes it starts for itself: what puts rings
# into their map, what reads files. They are nowhere in a flight recorder's second trace either,
# although their readers worked for the first one in its window.
# Beside another: it looks for its own recorder's processes.
. "$(dirname "$0")/lib.sh"
needs_bpf

# children: the processes that $recorder has, and theirs, one a line.
children() {
	for p in $(cat "/proc/$recorder/task/$recorder/children"); do
		echo "$p"
		tr ' ' '\n' <"/proc/$p/task/$p/children"
	done | grep .
}

# expect_unseen TRACE: no event and no thread of these, and one thread of the recorder.
expect_unseen() {
	"$walk" -q --format=events "$1" >"$tmp/events"
	"$walk" -q --format=threads --unit=us "$1" >"$tmp/threads"
	for pid in $(sort -u "$tmp/pids"); do
		! grep -qE "(^|[^0-9.])$pid([^0-9.]|\$)" "$tmp/threads" || fail "thread $pid is in $1:
$(grep -wE "$pid" "$tmp/threads")"
		! grep -qE "/$pid( |\$)" "$tmp/events" || fail "events of $pid are in $1:
$(grep -E "/$pid( |\$)" "$tmp/events" | head -n 5)"
	done
	expect "threads of the recorder's process in $1, at most" "" \
		"$(awk -v pid="$recorder" '$2 == pid && ++n > 1' "$tmp/threads")"
}

"$load" relay --rounds 1000 --seconds 600 >/dev/null &
started="$started $!"
"$cap" -v -o "$tmp/trace" 2 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
wait_for "the recorder's children" 10 grep -q 'ring buffers' "$tmp/err"
children >"$tmp/pids"
wait $recorder
expect_exit "chaincap" 0 $?
expect_at_least "processes that the recorder started" 2 "$(wc -l <"$tmp/pids")"
expect_unseen "$tmp/trace"

fly "$tmp/flight" --flight=20s
children >"$tmp/pids"
sleep 1
kill -USR1 "$recorder"
for _ in $(seq 100); do
	children >>"$tmp/pids"
	! written "$tmp/flight" || break
done
wait_for "the first trace" 20 written "$tmp/flight"
sleep 0.5
kill -TERM "$recorder"
wait "$recorder"
expect_exit "chaincap --flight" 0 $?
last=$(find "$tmp" -name 'flight*' -size +0 | sort | tail -n 1)
grep -v "^$(awk '$3 == "chaincap-writer" { print $2; exit }' "$tmp/threads")\$" "$tmp/pids" >"$tmp/others"
"$walk" -q --format=threads "$last" | awk '$3 == "chaincap-writer"' >"$tmp/writers"
expect_at_least "threads of what wrote the first trace, in $last" 1 "$(wc -l <"$tmp/writers")"
for writer in $(tr -cs '0-9' '\n' <"$tmp/writers"); do
	grep -vx "$writer" "$tmp/pids" >"$tmp/others"
	mv "$tmp/others" "$tmp/pids"
done
expect_unseen "$last"
