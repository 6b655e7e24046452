#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shapes that user stacks have, in programs compiled in different ways (tests/stacks/): each frame is where
# another unwinder (eu-stack) finds it, and the stack says whether it is whole.
# Beside another: it compares stacks of its own programs.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in eu-stack python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
sources=$(cd "$(dirname "$0")/../stacks" && pwd)
bad=''

# expected PROGRAM CASE: what its stack has to be.
#   whole    as eu-stack has it, to its end
#   guess    as eu-stack has it, and marked as cut: a frame was found without a rule
#   depth    cut after 127 frames
#   prefix   not more than eu-stack has: there is code without rules, and what it leads to is not known
expected() {
	case $1/$2 in
	*/recursion_500) echo depth ;;
	*/assembler | */coroutine | */generated | naps-*) echo guess ;;
	shapes-musl/* | shapes-no-tables/*) echo prefix ;;
	*) echo whole ;;
	esac
}

# begin PROGRAM CASE: starts it. All of them are recorded at once, as all sleep nearly all the time.
count=0
begin() {
	count=$((count + 1))
	: >"$tmp/ready.$count" # here, not by whenever the program's own shell comes to it
	"$tmp/$1" "$2" >>"$tmp/ready.$count" &
	started="$started $!"
	echo "$1 ${2:--}" >>"$tmp/begun"
}

# end_all: some of them have children that outlive them.
end_all() {
	for pid in $(awk '{ print $3 }' "$tmp/list" 2>/dev/null); do
		kill "$pid" 2>/dev/null
	done
	clean_up
}
trap end_all EXIT

# compare SECONDS: records, and writes "PID FRAMES FOUND RECORDED whole|cut WRONG" of each main thread to $tmp/stacks.
# Of several threads, as in Go's runtime, the others go on in the meantime.
compare() {
	"$cap" -q -o "$tmp/trace" "$1" 2>"$tmp/err"
	expect_exit "chaincap" 0 $?
	"$walk" -v -U --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	# shellcheck disable=SC2046 # a list
	python3 "$sources/compare.py" ask "$tmp/truth" $(awk '{ print $3 }' "$tmp/list") >"$tmp/out" 2>&1
	python3 "$sources/compare.py" judge "$tmp/truth" events "$tmp/events" >>"$tmp/out" 2>&1
	grep -q '^threads ' "$tmp/out" || fail "nothing compared: $(cat "$tmp/out")"
	awk '$5 == "frames," {
			pid = $1 == $2 ? $1 : ""
			stack[pid] = $4 " " ($6 == "not" ? "0 0 cut" : $6 " " $12 " " ($NF == "whole" ? "whole" : "cut"))
		}
		/^  the first that differs/ { wrong[pid] = 1 }
		END { for (pid in stack) if (pid != "") printf "%s %s %.0f\n", pid, stack[pid], wrong[pid] }' "$tmp/out" >"$tmp/stacks"
}

# judge: each of those in $tmp/list; adds to $bad what is not as it has to be.
judge() {
	while read -r program shape pid; do
		read -r _ frames found recorded end wrong <<<"$(grep "^$pid " "$tmp/stacks")"
		want=$(expected "$program" "$shape")
		case $want in
		whole) ok=$((wrong == 0 && found == frames && recorded == frames)) ;;
		guess) ok=$((found == frames)) ;;
		depth) ok=$((wrong == 0 && found == 127)) ;;
		prefix) ok=$((found >= 1)) ;;
		esac
		case $want/$end in
		whole/cut | guess/whole | depth/whole) ok=0 ;;
		esac
		echo "note: $program $shape: $found of $frames frames, $end, expected $want"
		[ "$ok" = 1 ] || bad="$bad
$program $shape, expected $want:
$(awk -v pid="$pid" '/^[0-9]/ { mine = $1 == pid } mine && !/^threads/' "$tmp/out")"
	done <"$tmp/list"
}

# compiled NAME COMMAND...: the program NAME, or a note why it is not there.
compiled() {
	made=$1
	shift
	if ! command -v "$1" >/dev/null; then
		echo "note: $made: not compared: $1 is not installed"
		return 1
	fi
	"$@" -o "$tmp/$made" 2>"$tmp/err" || fail "$made cannot be compiled: $(head -5 "$tmp/err")"
}

# These take longest, and go on beside the others.
rust='' go=''
if command -v rustc >/dev/null; then
	rustc -O -C panic=abort -o "$tmp/naps-rust" "$sources/naps.rs" 2>"$tmp/err.rust" &
	rust=$!
else
	echo "note: naps-rust: not compared: rustc is not installed"
fi
if command -v go >/dev/null; then
	GOCACHE=$tmp/go GOFLAGS=-mod=mod go build -o "$tmp/naps-go" "$sources/naps.go" 2>"$tmp/err.go" &
	go=$!
else
	echo "note: naps-go: not compared: go is not installed"
fi
started="$rust $go"
cc=${CC:-cc}
flags="-O2 -g -std=gnu17 -fno-optimize-sibling-calls"
# shellcheck disable=SC2086 # lists
{
	compiled shapes $cc $flags -fomit-frame-pointer "$sources/shapes.c" && list=$("$tmp/shapes")
	for shape in $list; do
		begin shapes "$shape"
	done
	few="plain alloca signal_in_code ends_in_a_call"
	compiled shapes-fp $cc $flags -fno-omit-frame-pointer "$sources/shapes.c"
	compiled shapes-lto $cc -O2 -flto "$sources/shapes.c"
	compiled shapes-lazy $cc $flags -Wl,-z,lazy "$sources/shapes.c"
	compiled shapes-no-pie $cc $flags -no-pie -fno-pie "$sources/shapes.c"
	compiled shapes-static $cc $flags -static "$sources/shapes.c"
	for way in fp lto lazy no-pie static; do
		for shape in $few; do
			begin shapes-$way "$shape"
		done
	done
	compiled shapes-no-tables $cc $flags -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables "$sources/shapes.c" && begin shapes-no-tables plain
	compiled shapes-musl musl-gcc -O2 -g -static "$sources/shapes.c" && begin shapes-musl plain
	if compiled throws ${CXX:-c++} -O2 -g "$sources/throws.cc"; then
		for shape in $("$tmp/throws"); do
			begin throws "$shape"
		done
	fi
}
for language in rust go; do
	[ "${!language}" ] || continue
	wait "${!language}" || fail "$language: $(cat "$tmp/err.$language")"
	begin naps-$language ''
done

number=0
while read -r program shape; do
	number=$((number + 1))
	wait_for "$program $shape goes to sleep" 20 grep -q ready "$tmp/ready.$number"
	echo "$program $shape $(awk '{ print $2; exit }' "$tmp/ready.$number")" >>"$tmp/list"
done <"$tmp/begun"
# On a busy machine some sleep may not fall into the recording, and rules may be read too late, which the stack says.
for seconds in 0.5 2 6; do
	compare $seconds
	missing=$(awk '$4 == 0' "$tmp/stacks" | wc -l)
	late=0
	while read -r program shape pid; do
		[ "$(expected "$program" "$shape")" != whole ] || ! grep -q "^$pid .* cut " "$tmp/stacks" || late=$((late + 1))
	done <"$tmp/list"
	[ $((missing + late)) -gt 0 ] || break
	echo "note: in $seconds s $missing did not go to sleep, and the stacks of $late were cut"
done
judge
[ -z "$bad" ] || only_plain "stacks that are found in time:$bad"
[ -z "$bad" ] || fail "user stacks that are not right:$bad"
