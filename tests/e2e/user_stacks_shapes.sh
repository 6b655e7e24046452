#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shapes that user stacks have, in programs compiled in different ways (tests/stacks/): each frame is where
# another unwinder (eu-stack) finds it, and the stack says whether it is whole.
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

# look PROGRAM CASE: adds to $bad what is not as it has to be.
look() {
	want=$(expected "$1" "$2")
	: >"$tmp/ready" # here, not by whenever the program's own shell comes to it
	"$tmp/$1" "$2" >>"$tmp/ready" &
	runs=$!
	started="$started $runs"
	wait_for "$1 $2 goes to sleep" 20 grep -q ready "$tmp/ready"
	pid=$(awk '{ print $2; exit }' "$tmp/ready")
	for try in 1 2 3; do
		"$cap" -q -o "$tmp/trace" 0.5 2>"$tmp/err"
		"$walk" -v -U --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
		python3 "$sources/compare.py" ask "$tmp/truth" "$pid" >"$tmp/out" 2>&1
		python3 "$sources/compare.py" judge "$tmp/truth" events "$tmp/events" >>"$tmp/out" 2>&1
		sums=$(grep '^threads ' "$tmp/out") || fail "$1 $2: nothing compared: $(cat "$tmp/out")"
		read -r _ _ _ recorded _ whole _ _ _ frames _ found _ _ _ wrong <<<"$sums"
		[ "$recorded" -gt 0 ] && break # else no sleep fell into the recording, on a busy machine
	done
	kill "$runs" 2>/dev/null
	[ "$pid" = "$runs" ] || kill "$pid" 2>/dev/null
	case $want in
	whole) ok=$((recorded == 1 && wrong == 0 && whole == 1 && found == frames)) ;;
	# Only the main thread: those of Go's runtime go on in the meantime.
	guess) ok=$(awk -v tid="$pid" '$2 == tid && /^[0-9]/ { print $4 == $6 && $NF != "whole" }' "$tmp/out") ;;
	depth) ok=$((recorded == 1 && wrong == 0 && whole == 0 && found == 127)) ;;
	prefix) ok=$((recorded == 1 && found >= 1)) ;;
	esac
	echo "note: $1 $2: $found of $frames frames, $([ "$whole" -gt 0 ] && echo whole || echo cut), expected $want"
	[ "$ok" = 1 ] || bad="$bad
$1 $2, expected $want, try $try:
$(cat "$tmp/out")"
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

cc=${CC:-cc}
flags="-O2 -g -std=gnu17 -fno-optimize-sibling-calls"
# shellcheck disable=SC2086 # lists
{
	compiled shapes $cc $flags -fomit-frame-pointer "$sources/shapes.c" && list=$("$tmp/shapes")
	for shape in $list; do
		look shapes "$shape"
	done
	few="plain alloca signal_in_code ends_in_a_call"
	compiled shapes-fp $cc $flags -fno-omit-frame-pointer "$sources/shapes.c"
	compiled shapes-lto $cc -O2 -flto "$sources/shapes.c"
	compiled shapes-lazy $cc $flags -Wl,-z,lazy "$sources/shapes.c"
	compiled shapes-no-pie $cc $flags -no-pie -fno-pie "$sources/shapes.c"
	compiled shapes-static $cc $flags -static "$sources/shapes.c"
	for way in fp lto lazy no-pie static; do
		for shape in $few; do
			look shapes-$way "$shape"
		done
	done
	compiled shapes-no-tables $cc $flags -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables "$sources/shapes.c" && look shapes-no-tables plain
	compiled shapes-musl musl-gcc -O2 -g -static "$sources/shapes.c" && look shapes-musl plain
	if compiled throws ${CXX:-c++} -O2 -g "$sources/throws.cc"; then
		for shape in $("$tmp/throws"); do
			look throws "$shape"
		done
	fi
}
if command -v rustc >/dev/null; then
	rustc -O -C panic=abort -o "$tmp/naps-rust" "$sources/naps.rs" 2>"$tmp/err" || fail "rustc: $(cat "$tmp/err")"
	look naps-rust ''
else
	echo "note: naps-rust: not compared: rustc is not installed"
fi
if command -v go >/dev/null; then
	GOCACHE=$tmp/go GOFLAGS=-mod=mod go build -o "$tmp/naps-go" "$sources/naps.go" 2>"$tmp/err" ||
		fail "go: $(cat "$tmp/err")"
	look naps-go ''
else
	echo "note: naps-go: not compared: go is not installed"
fi
[ -z "$bad" ] || fail "user stacks that are not right:$bad"
