#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ctrl-C and SIGTERM end a recording in order: the trace is entire, with names, and the exit status 0.
# Beside another: it compares names of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
"$load" relay --rounds 1000 --seconds 600 >"$tmp/told" &
started="$started $!"
for signal in INT TERM; do
	begin_recording "$tmp/trace"
	sleep 1.5
	kill -$signal $recorder
	wait $recorder
	expect_exit "chaincap, ended by SIG$signal" 0 $?
	walk_to "$tmp/folded" "$tmp/trace"
	grep -q '^alpha;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" ||
		fail "SIG$signal: names of the relay are missing
$(grep '^alpha;' "$tmp/folded" | head -5)"
	timeout 300 "$walk" --format=info "$tmp/trace" >"$tmp/info" 2>&1
	expect_exit "chainwalk --format=info" 0 $?
done
