#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who starts many sessions, each of which gets a share of the CPUs (sched(7), "The autogroup feature"), does not starve
# a recorder that is a service: its session has nice -10 while it records. Not with a command, which would gain by it,
# nor if the user chose a nice value, nor in a session that has others.
# Beside another: it reads what nice values sessions of its own have.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ] || skip "this kernel does not share CPUs among sessions"
# lowest COMMAND...: runs it, and sets $lowest to the lowest nice value that its session had
lowest() {
	"$@" 2>"$tmp/said" &
	pid=$!
	started="$started $pid"
	: >"$tmp/values"
	while is_running $pid; do
		sed 's/.* //' /proc/$pid/autogroup >>"$tmp/values" 2>/dev/null
		sleep 0.1
	done
	wait $pid || fail "$*: $(cat "$tmp/said")"
	lowest=$(sort -n "$tmp/values" | head -n 1)
}
lowest setsid "$cap" -o "$tmp/trace" 2
expect "nice value of the session while recording" -10 "$lowest"
lowest setsid nice -n 3 "$cap" -o "$tmp/trace" 1
expect "of a recorder with a nice value of its own" 0 "$lowest"
lowest setsid "$cap" -o "$tmp/trace" -- sleep 1
expect "of a recorder with a command" 0 "$lowest"
lowest setsid sh -c '"$0" -o "$1" 1; exit $?' "$cap" "$tmp/trace"
expect "of a session that has others" 0 "$lowest"
