#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A signal that was ignored when chaincap was started, as nohup does, stays ignored: the recording goes
# on, and the command finds all signals as if it had been started without chaincap.
# Beside another: it is about signals.
. "$(dirname "$0")/lib.sh"
needs_bpf

for signal in HUP TERM; do
	# Not below timeout(1), which handles these itself, so that they are not ignored any more.
	(
		trap '' $signal
		exec "$cap" -o "$tmp/trace" 1
	) >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	started="$started $recorder"
	while [ ! -s "$tmp/trace" ] && kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	kill -$signal $recorder
	wait $recorder
	expect_exit "chaincap with SIG$signal ignored" 0 $?
	read_info "$tmp/trace"
	expect_at_least "seconds recorded, SIG$signal ignored" 1 "$(sed -n 's/^duration_s: *//p' "$tmp/info")" "$tmp/info"
	rm "$tmp/trace"
done

for ignored in '' HUP 'HUP INT TERM PIPE QUIT USR1'; do
	(
		# shellcheck disable=SC2086 # names of signals
		[ -z "$ignored" ] || trap '' $ignored
		grep SigIgn /proc/self/status >"$tmp/alone"
		"$cap" -q -o "$tmp/trace" -- grep SigIgn /proc/self/status >"$tmp/recorded"
	) || fail "cannot record with '$ignored' ignored"
	expect "signals that a command ignores, of '$ignored'" "$(cat "$tmp/alone")" "$(cat "$tmp/recorded")"
done
