#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A graph without any option shows what ended waits: of the waits of real servers in light use, and of those of
# the whole machine beside them, at most a tenth of the time has an end that explains nothing, and waits that
# nobody ended are there when they are asked for. A chain cut at the depth limit names six threads: a build on
# the same machine has many of those. On some virtual machines there are switches that no tool can trace (see
# record_thread in lib.sh), and what they touch is rightly [unknown]: of these the machine may have any number.
. "$(dirname "$0")/lib.sh"
needs_bpf
dir=$tmp/servers
mkdir "$dir"
chmod 755 "$tmp" "$dir"
# shellcheck source=tests/stacks/servers.sh
. "$(dirname "$0")/../stacks/servers.sh"
trap 'server_stop; clean_up' EXIT
servers_start || fail "$server does not start: $(tail -5 "$dir/$server/log" 2>/dev/null)"
[ "$servers" ] || skip "no server is installed"
timeout 300 "$cap" -o "$dir/trace" 3 2>"$tmp/err"
expect_exit "recording beside the servers" 0 $?
server_stop

# explained WHOSE REGEX [OPTION...]: of the waits that these options choose at most a tenth ends like REGEX.
explained() {
	whose=$1 nothing=$2
	shift 2
	walk_to "$tmp/first" "$@" "$dir/trace"
	all=$(weight_of . "$tmp/first")
	red=$(weight_of "\\[($nothing)\\] [0-9]+\$" "$tmp/first")
	expect_at_least "time in the first picture of $whose, ns" 1000000000 "$all" "$tmp/first"
	echo "note: $whose: $((red * 100 / all)) % of $((all / 1000000000)) s unexplained"
	expect_at_most "unexplained time in the first picture of $whose, ns" $((all / 10)) "$red" "$tmp/first"
}

for name in $servers; do
	# shellcheck disable=SC2046 # a list
	explained "$name" 'not woken|unknown|loop|no events' --ended $(printf -- '-p %s ' $(cat "$dir/$name/pids"))
done
unknown='|unknown'
[ "$(holes "$dir/trace")" = 0 ] || unknown=''
explained "the machine" "not woken|loop|no events$unknown"
walk_to "$tmp/asleep" --not-woken "$dir/trace"
asleep=$(weight_of '\[not woken\] [0-9]+$' "$tmp/asleep")
expect_at_least "waits on the machine that nobody ended, ns" 1000000000 "$asleep" "$tmp/asleep"
