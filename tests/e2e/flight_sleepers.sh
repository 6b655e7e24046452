#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that went to sleep long before the window begins are in it with their names and stacks,
# also those of a process that was not there when the recorder began. A light recorder takes their user stacks
# when it writes a trace.
. "$(dirname "$0")/lib.sh"
needs_bpf

# record_sleepers TRACE [OPTION...]: the waits of both are in that trace, with their stacks.
record_sleepers() {
	trace=$1
	shift
	fly "$trace" -F 0 --flight 1s "$@"
	# The recorder has to know the program before its threads go to sleep: see record().
	"$load" relay --rounds 1 >"$tmp/told" || fail "chainload relay"
	SETTLE_MS=1000 "$load" deadlock --seconds 600 >"$tmp/told" &
	started="$started $!"
	wait_for "the deadlock's threads" 10 grep -q '^thread pollux' "$tmp/told"
	sleep 3.5
	kill -USR1 $recorder
	wait_for "a trace on SIGUSR1" 20 written "$trace"
	expect_whole "$trace"
	walk_to "$tmp/folded" --state=all -t "$(tid castor)" -t "$(tid pollux)" "$trace"
	for name in castor:castor_wants_polluxs_lock pollux:pollux_wants_castors_lock; do
		grep -q "^${name%:*};.*thread_main;${name%:*}_runs;${name#*:};[^;]*;\[futex\];-;.*futex_wait.*;\[not woken\] 1000000000\$" \
			"$tmp/folded" || fail "${name%:*}: expected one wait of a second in ${name#*:}, got
$(cat "$tmp/folded")"
	done
	expect "lines" 2 "$(wc -l <"$tmp/folded" | tr -d ' ')"
	kill -TERM $recorder
	wait $recorder
	expect_exit "chaincap --flight $*, ended by SIGTERM" 0 $?
}

record_sleepers "$tmp/light" --light 1ms
record_sleepers "$tmp/trace"
"$walk" -q --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect "events of the deadlocked threads" "" \
	"$(grep -e "castor/$(tid castor)" -e "pollux/$(tid pollux)" "$tmp/events")"

# of a process, its name and its id
timeout 300 "$walk" -q --format=threads -p "$(awk '$1 == "process" { print $3 }' "$tmp/told")" \
	"$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk --format=threads" 0 $?
grep -q castor "$tmp/threads" || fail "castor is not among its process's threads:
$(cat "$tmp/threads")"
