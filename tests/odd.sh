# shellcheck shell=sh disable=SC2154 # tmp, build and load are of tests/e2e/lib.sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of tests/attacks whose stacks are in odd places, or are moved, and what is recorded of them. Sourced after
# e2e/lib.sh by tests that need the BPF programs.
command -v setpriv >/dev/null || skip "needs setpriv"
mkdir "$tmp/theirs"
chmod 755 "$tmp"
chmod 777 "$tmp/theirs"
cp "$build/odd_stacks" "$build/odd_processes" "$build/moving_stacks" "$load" "$tmp"
names=''

# attacker NAME COMMAND...: in the background, as an ordinary user; its process is $pid_NAME
attacker() {
	name=$1
	shift
	setpriv --reuid=65432 --regid=65432 --clear-groups "$@" >"$tmp/$name.out" 2>&1 &
	ran "$name" $!
}
# ran NAME PID: one has been started
ran() {
	eval "pid_$1=$2"
	started="$started $2"
	names="$names $1"
}
is_ready() {
	grep -q ready "$tmp/$1.out" || ! is_running "$2"
}

# attackers ODD...: those with such stacks, and all whose stacks are moved; they sleep for $nap_ms
attackers() {
	for what; do
		attacker "$what" "$tmp/odd_stacks" "$what" "$tmp/theirs/$what" "${nap_ms:-2}"
	done
	for what in moves hides huge ends execs; do
		attacker "$what" "$tmp/moving_stacks" "$what" "${nap_ms:-2}"
	done
}
# wait_for_attackers: those that cannot be here are added to $cannot
wait_for_attackers() {
	for name in $names; do
		eval "pid=\$pid_$name"
		wait_for "$name" 10 is_ready "$name" "$pid"
		is_running "$pid" || cannot="${cannot:-} $name"
	done
	[ -z "${cannot:-}" ] || echo "note: not here:$cannot $(cat "$tmp"/*.out | grep -h ': ' | tr '\n' ' ')"
}

# stacks PID...: their user stacks while they slept, one a line, in $tmp/stacks
stacks() {
	for pid; do
		set -- "$@" -p "$pid"
		shift
	done
	walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects --state=blocked "$@" "$tmp/trace"
	sed -n '/;\[unknown stack\] /!s/ [0-9]*$//p' "$tmp/folded" >"$tmp/stacks"
}
# only NAME REGEX: some stacks are like that, and each one with a function odd_... is a part of such a one: it is cut, or
# the thread was stopped elsewhere
only() {
	eval "pid=\$pid_$1"
	grep -q ready "$tmp/$1.out" || return 0
	also=$(sed -n 's/^ready //p' "$tmp/$1.out" | head -n 1)
	stacks "$pid" ${also:+"$also"}
	LIKE="^[^;]*;($2)\$" awk '$0 ~ ENVIRON["LIKE"] { whole[$0]; n++; next }
		/;odd_/ { others[$0] }
		END {
			if (!n) print "none is like it"
			for (one in others) {
				sub(/^[^;]*/, "", one)
				is_part = 0
				for (w in whole)
					is_part = is_part || index(w ";", one ";")
				if (!is_part) print "wrong: " one
			}
		}' "$tmp/stacks" >"$tmp/wrong"
	[ ! -s "$tmp/wrong" ] || fail "$1: stacks are to be like $2
$(cat "$tmp/wrong" "$tmp/stacks")"
}
# start_thread() has no name in a stripped library.
begins=';(main|start_thread|[[]libc[^;]*|make_traced);odd_begins;odd_middle'

# judge_moving: those whose stacks are moved. What light recordings leave out by their length (and, where many sleep, by
# their budget) is no stack that lacks; the thread that moves them is none of those that are judged.
judge_moving() {
	for name in moves hides huge; do
		only $name ".*$begins;odd_naps;nanosleep;clock_nanosleep|.*;main;disturb(;.*)?"
		is_running "$pid" || continue
		grep -vE ';\[short\] |;main;(disturb|madvise|nanosleep)' "$tmp/folded" >"$tmp/judged"
		expect_at_least "$name: ns with whole stacks, a third of all that have any" $(($(weight_of '' "$tmp/judged") / 3)) \
			"$(weight_of ';odd_begins;odd_middle;odd_naps;nanosleep;clock_nanosleep' "$tmp/folded")" "$tmp/folded"
	done
	for name in ends execs; do
		eval "pid=\$pid_$name"
		is_running "$pid" || continue
		walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects --state=blocked --tree-of "$pid" "$tmp/trace"
		grep -qE ";odd_begins;odd_middle;odd_naps;nanosleep;clock_nanosleep " "$tmp/folded" || fail "$name: no stack: $(cat "$tmp/folded")"
		! grep -e ';odd_.*;after_' -e ';after_.*;odd_' "$tmp/folded" || fail "$name: functions from before the exec"
		! grep ';odd_naps' "$tmp/folded" | grep -vE ';(odd_middle;)?odd_naps;(nanosleep;)?clock_nanosleep ' || fail "$name: other stacks"
		[ $name = ends ] || grep -q ';after_naps;' "$tmp/folded" || fail "$name: no stack after the exec: $(cat "$tmp/folded")"
	done
}
