#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks of the shapes in tests/stacks/shapes.c, compiled in different ways (run.sh), have the functions
# that the source says, and are whole; and libdwfl finds no other frames.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf

# expected SHAPE: the program's own functions from the leaf on, and how the stack ends.
expected() {
	case $1 in
	plain | spawned | after_exec) echo nap plain main _start: whole ;;
	recursion_100) echo nap "recursion_goes_on x91" recursion_100 main _start: whole ;;
	recursion_500) echo nap "recursion_goes_on x124": cut ;;
	alloca | vla) echo nap "$1_frame" main _start: whole ;;
	ends_in_a_call) echo nap never_comes_back ends_in_a_call main _start: whole ;;
	tail_call) echo nap plain tail_call main _start: whole ;;
	signal_*) echo nap on_alarm "$1" main _start: whole ;;
	coroutine) echo nap plain coroutine_runs: cut ;;
	vfork_parent) echo vfork_parent main _start: whole ;;
	assembler) echo "nap plain without_rules*: cut" ;; # where it was called from is a guess
	generated) echo nap plain generated main _start: cut ;;
	called_back) echo nap by_napping called_back main _start: whole ;;
	*) echo nap "$1" main _start: whole ;;
	esac
}

# last_sleeps EVENTS: "TID FUNCTION...: END" for each thread's last sleep.
last_sleeps() {
	awk '
	function close_stack() {
		if (tid == "") return
		for (i = 1; i <= n; i = j) {
			for (j = i; j <= n && name[j] == name[i]; j++) continue
			text = (i > 1 ? text " " : "") name[i] (j - i > 1 ? " x" (j - i) : "")
		}
		last[tid] = (n ? text : "") ": " end
		tid = ""
	}
	!/^\t/ {
		close_stack()
		if (match($0, / switch .*\/[0-9]+ S -> /)) {
			tid = substr($0, RSTART, RLENGTH - 6)
			sub(/.*\//, "", tid)
			n = 0
			end = "whole"
		}
		next
	}
	/\[cut/ { end = "cut"; next }
	$NF ~ /\/shapes/ { name[++n] = $2; sub(/\+0x.*/, "", name[n]) }
	END { close_stack(); for (tid in last) print tid, last[tid] }' "$1"
}

# verified TRACE: records while libdwfl unwinds as well, and adds up what it says. It keeps 32 processes
# in mind, and takes long for another one.
same=0 differing=0
verified() {
	"$cap" --verify -v -o "$1" 3 2>"$tmp/err"
	expect_exit "chaincap --verify" 0 $?
	line=$(grep '^chaincap: verified:' "$tmp/err") || fail "no verdict: $(cat "$tmp/err")"
	# shellcheck disable=SC2046 # numbers
	set -- $(echo "$line" | tr -cs '0-9' ' ')
	same=$((same + $3 - $4)) differing=$((differing + $4))
}

bad='' shapes=0
for path in "$build"/shapes*; do
	program=${path##*/}
	case $program in
	shapes | shapes-signed) list=$("$path") ;;
	*) list="plain alloca signal_in_code ends_in_a_call called_back" ;;
	esac
	for shape in $list; do
		"$path" "$shape" >"$tmp/ready.$shape" &
		started="$started $!"
	done
	for shape in $list; do
		wait_for "$program $shape" 60 grep -q ready "$tmp/ready.$shape"
		started="$started $(awk '{ print $2; exit }' "$tmp/ready.$shape")"
	done
	verified "$tmp/trace"
	"$walk" -v -U --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	expect_exit "chainwalk --format=events" 0 $?
	last_sleeps "$tmp/events" >"$tmp/stacks"
	for shape in $list; do
		got=$(sed -n "s/^$(awk '{ print $2; exit }' "$tmp/ready.$shape") //p" "$tmp/stacks")
		want=$(expected "$shape")
		[ $program != shapes-no-tables ] || want=${want%whole}cut
		shapes=$((shapes + 1))
		case $got in
		# shellcheck disable=SC2254 # a pattern
		$want) ;;
		*) bad="$bad
$program $shape
expected: $want
got:      $got" ;;
		esac
	done
	for pid in $started; do kill "$pid" 2>/dev/null; done
	started=
done
[ -z "$bad" ] || fail "user stacks that are not right:$bad"
echo "note: $shapes shapes; libdwfl: $same user stacks the same, $differing others"
expect_at_least "user stacks compared" 500 $same
expect "user stacks that differ from libdwfl's" 0 $differing
