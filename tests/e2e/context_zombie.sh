#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Being dead is not a wait: neither for a thread that dies during the recording, nor for one that was
# dead before it and that nobody has reaped.
# Beside another: its threads sleep or are dead.
. "$(dirname "$0")/lib.sh"
needs_bpf
# It is dead for a second; on a busy machine it lives for some tenths of one.
record "$tmp/trace" zombie --work 2000 --sleep 1000000
walk_to "$tmp/folded" -t "$(tid undead)" --state=all "$tmp/trace"
expect "time that undead was not woken" 0 "$(weight_of '\[not woken\] ' "$tmp/folded")"
expect_at_most "its waits, ns" 800000000 "$(weight_of . "$tmp/folded")" "$tmp/folded"
"$walk" -q --format=threads --unit=ns -t "$(tid undead)" "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk --format=threads" 0 $?
lifetime=$(awk -v tid="$(tid undead)" '$1 == tid { print $9 }' "$tmp/threads")
expect_at_least "its lifetime, ns" 2000000 "${lifetime%.*}" "$tmp/threads"
expect_at_most "its lifetime, ns" 850000000 "${lifetime%.*}" "$tmp/threads"

"$load" zombie --work 1000 --sleep 20000000 --seconds 600 >"$tmp/told" &
started="$started $!"
for _ in $(seq 100); do
	[ -n "$(tid undead)" ] && grep -q ') Z ' "/proc/$(tid undead)/stat" && break
	sleep 0.05
done
timeout 300 "$cap" -F 0 -o "$tmp/trace" 0.5 2>"$tmp/err"
expect_exit "chaincap 0.5" 0 $?
walk_to "$tmp/folded" -c '^(undead|parent)$' --state=all "$tmp/trace"
expect "waits of undead" "" "$(grep '^undead' "$tmp/folded")"
grep -q '^parent;.*\[not woken\] ' "$tmp/folded" || fail "its parent is not shown as asleep
$(cat "$tmp/folded")"
