#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A whole machine's graph without any option shows what ended waits: beside each of these real servers in
# light use, at most a tenth of the time has an end that explains nothing, and waits that nobody ended are
# there when they are asked for. A chain cut at the depth limit names six threads: a build on the same
# machine has many of those.
. "$(dirname "$0")/lib.sh"
needs_bpf
dir=$tmp/servers
mkdir "$dir"
chmod 755 "$tmp" "$dir"
# shellcheck source=tests/stacks/servers.sh
. "$(dirname "$0")/../stacks/servers.sh"
trap 'server_stop; clean_up' EXIT

some=''
for name in $servers_all; do
	server_start "$name"
	case $? in
	0) ;;
	77)
		echo "note: $name: not recorded: $server_lacks is not installed"
		server_stop
		continue
		;;
	*) fail "$name does not start: $(tail -5 "$dir/$name/log" 2>/dev/null)" ;;
	esac
	timeout 60 "$cap" -o "$dir/trace" 2 2>"$tmp/err"
	expect_exit "recording beside $name" 0 $?
	server_stop
	walk_to "$tmp/first" "$dir/trace"
	walk_to "$tmp/asleep" --not-woken "$dir/trace"
	all=$(weight_of . "$tmp/first")
	red=$(weight_of '\[(not woken|unknown|loop|no events)\] [0-9]+$' "$tmp/first")
	asleep=$(weight_of '\[not woken\] [0-9]+$' "$tmp/asleep")
	echo "note: $name: $((red * 100 / all)) % unexplained; with --not-woken $((asleep * 100 / $(weight_of . "$tmp/asleep"))) % are waits that nobody ended"
	expect_at_most "unexplained time in the first picture beside $name, ns" $((all / 10)) "$red" "$tmp/first"
	expect_at_least "its time, ns" 1000000000 "$all" "$tmp/first"
	expect_at_least "waits that nobody ended beside $name, ns" 1000000000 "$asleep" "$tmp/asleep"
	some=1
done
[ "$some" ] || skip "no server is installed"
