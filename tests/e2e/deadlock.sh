#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads that hold each other's lock make no event at all. They show up all the same, with what
# they sleep in, asleep from the start of the recording to its end.
# Beside another: its threads sleep.
. "$(dirname "$0")/lib.sh"
needs_bpf
"$load" deadlock --seconds 600 >"$tmp/told" &
started="$started $!"
for _ in $(seq 100); do
	[ -n "$(tid pollux)" ] && [ "$(cat "/proc/$(tid castor)/stat" "/proc/$(tid pollux)/stat" |
		grep -c ') S ')" = 2 ] && break
	sleep 0.05
done
sleep 0.5
timeout 300 "$cap" -F 0 -o "$tmp/trace" 1 2>"$tmp/err"
expect_exit "chaincap 1" 0 $?
"$walk" -q --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk --format=events" 0 $?
expect "events of the deadlocked threads" "" "$(grep -e "castor/$(tid castor)" -e "pollux/$(tid pollux)" "$tmp/events")"

timeout 300 "$walk" --format=info "$tmp/trace" >"$tmp/info" 2>"$tmp/err"
expect_exit "chainwalk --format=info" 0 $?
recorded=$(awk '$1 == "duration_s:" { sub(/[.]/, "", $2); printf "%.0f\n", $2 }' "$tmp/info")
expect_at_least "the recording, ns" 1000000000 "$recorded" "$tmp/info"
walk_to "$tmp/folded" --state=all -t "$(tid castor)" -t "$(tid pollux)" "$tmp/trace"
for name in castor pollux; do
	grep -q "^$name;.*futex_wait.*;\[not woken\] $recorded\$" "$tmp/folded" ||
		fail "$name: expected one wait of $recorded ns in futex_wait that ends in [not woken], got
$(cat "$tmp/folded")"
done
expect "lines" 2 "$(wc -l <"$tmp/folded" | tr -d ' ')"

# the picture of the whole machine is without them, says so, and has them if asked for
walk_to "$tmp/machine" "$tmp/trace"
grep -qE '^(castor|pollux);.*\[not woken\]' "$tmp/machine" && fail "sleepers that nobody woke, without --not-woken"
grep -q '^left out: [0-9]* sleeps that had not ended, .*--not-woken' "$tmp/err" ||
	fail "the summary does not say what is left out: $(cat "$tmp/err")"
walk_to "$tmp/machine" --not-woken "$tmp/trace"
expect "the deadlock with --not-woken" 2 "$(grep -c -E "^(castor|pollux);.*;\[not woken\] $recorded\$" "$tmp/machine")"

# the same in the other views
"$walk" -q --format=tree -t "$(tid castor)" "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
expect_exit "chainwalk --format=tree" 0 $?
grep -q 'not woken' "$tmp/tree" || fail "the tree does not say that castor was not woken
$(cat "$tmp/tree")"
