#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who starts many sessions, each of which gets a share of the CPUs (sched(7), "The autogroup feature"), does not starve
# the recorder: its session has nice -10 while it records, and what it had before when it ends; not with a command, which
# would gain by it, nor if the user chose a nice value.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ] || skip "this kernel does not share CPUs among sessions"
for _ in 1 2 3 4 5 6 7 8; do
	setsid sh -c 'while :; do :; done' &
	started="$started $!"
done
# in_session NAME COMMAND...: runs it in a session of its own, whose values meanwhile and afterwards are in $tmp/NAME.*
in_session() {
	name=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's
	setsid --wait sh -c 'name=$1; shift
		while :; do sed "s/.* //" /proc/self/autogroup >>"$name.during"; sleep 0.1; done & watching=$!
		"$@" 2>"$name.said"; status=$?
		kill $watching; sed "s/.* //" /proc/self/autogroup >"$name.after"; exit $status' - "$tmp/$name" "$@" ||
		fail "$*: $(cat "$tmp/$name.said")"
	lowest=$(sort -n "$tmp/$name.during" | head -n 1)
}
in_session plain "$cap" -o "$tmp/trace" 2
expect "nice value of the session while recording" -10 "$lowest"
in_session ours nice -n 3 "$cap" -o "$tmp/trace" 1
expect "of a recorder with a nice value of its own" 0 "$lowest"
in_session command "$cap" -o "$tmp/trace" -- sleep 1
expect "of a recorder with a command" 0 "$lowest"
expect "afterwards" "0 0 0" "$(cat "$tmp/plain.after") $(cat "$tmp/ours.after") $(cat "$tmp/command.after")"
