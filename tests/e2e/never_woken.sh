#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that still sleeps when the recording ends is shown, up to the end, as not woken.
# Beside another: its thread sleeps.
. "$(dirname "$0")/lib.sh"
needs_bpf
own=waits
! is_plain || own=runs # frame pointers pass over who calls the C library
timeout 300 "$cap" -o "$tmp/trace" -- sh -c '"$0" never --seconds 0.3 >/dev/null; SETTLE_MS=500 "$0" never --seconds 600 >"$1" & echo $! >"$2"
	until grep -q "^thread never " "$1"; do sleep 0.1; done; sleep 1.5' \
	"$load" "$tmp/told" "$tmp/pid" 2>"$tmp/err"
expect_exit "chaincap -- chainload never, in the background" 0 $?
started="$started $(cat "$tmp/pid")"
walk_to "$tmp/folded" -t "$(tid never)" "$tmp/trace"
waited=$(weight_of '^never;.*;\[not woken\] ' "$tmp/folded")
grep -q "^never;.*;never_$own;.*;\[not woken\] " "$tmp/folded" || fail "no wait with its function: $(cat "$tmp/folded")"
expect_at_least "never woken for most of 1.5 s" 1000000000 "$waited" "$tmp/folded"
expect_at_most "not longer than the recording" "$(duration "$tmp/trace")" "$waited" "$tmp/folded"
