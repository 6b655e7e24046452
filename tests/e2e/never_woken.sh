#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that still sleeps when the recording ends is shown, up to the end, as not woken.
# Beside another: its thread sleeps.
. "$(dirname "$0")/lib.sh"
needs_bpf
timeout 30 "$cap" -o "$tmp/trace" -- sh -c '"$0" never --seconds 20 >"$1" & echo $! >"$2"; sleep 1.2' \
	"$load" "$tmp/told" "$tmp/pid" 2>"$tmp/err"
expect_exit "chaincap -- chainload never, in the background" 0 $?
started="$started $(cat "$tmp/pid")"
walk_to "$tmp/folded" -t "$(tid never)" "$tmp/trace"
skeleton '^never_waits$' <"$tmp/folded" >"$tmp/chains"
waited=$(weight 'never;never_waits;[not woken]' "$tmp/chains")
expect_at_least "never woken for most of 1.2 s" 1000000000 "$waited" "$tmp/folded"
expect_at_most "not longer than the recording" 3000000000 "$waited" "$tmp/folded"
