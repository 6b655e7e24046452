#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A 32-bit program: its stacks are what the frame pointers say, count as guessed, and a note says so; the vDSO of 32-bit
# programs is not taken for the 64-bit one.
# Beside another: it judges its own program's stacks.
. "$(dirname "$0")/lib.sh"
needs_more "what threads wait for"
command -v cc >/dev/null || skip "no C compiler"
for how in omit no-omit; do
	cc -m32 -O1 -f$how-frame-pointer -fno-pic -no-pie -ffreestanding -nostdlib -static -fno-stack-protector \
		-o "$tmp/narrow" "$(dirname "$0")/../workload/slow/narrow.c" 2>"$tmp/err" ||
		skip "no compiler for 32-bit programs: $(tail -n 1 "$tmp/err")"
	"$tmp/narrow" || skip "32-bit programs do not run here"
	timeout 300 "$cap" -o "$tmp/trace" -- "$tmp/narrow" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- narrow" 0 $?
	said=$(sed -n 's/^chaincap: narrow\/[0-9]*: //p' "$tmp/err")
	expect "what the recorder says" "callers are missing: 32-bit programs are unwound by frame pointers only: -fno-omit-frame-pointer" "$said"
	read_info "$tmp/trace"
	grep -q "^note: narrow/[0-9]*: $said\$" "$tmp/info" || fail "no note:
$(cat "$tmp/info")"
	expect_at_least "stacks that are guessed" 1 "$(info_figure user_stacks_guessed)" "$tmp/info"
	walk_to "$tmp/folded" -U --no-objects -d 0 --no-ends -c narrow "$tmp/trace"
	slept=$(sed -n 's/^narrow;//p' "$tmp/folded" | grep -v 'unknown stack' | sed 's/ [0-9]*$//' | sort -u)
	case $how in
	omit) echo "$slept" | grep -q '\[\[vdso\]\]$' || fail "where it slept: $slept" ;;
	# The vDSO's function has no frame of its own: its caller, inner, is not found.
	no-omit) echo "$slept" | grep -qE ';begin;outer;(inner;)?\[\[vdso\]\]$' || fail "where it slept: $slept" ;;
	esac
	"$walk" -q --all -f events -v "$tmp/trace" | awk '/^ +[0-9.]+ \[/ { ours = / switch narrow\// }
		ours && $NF == "([vdso])" { print $1 }' | sort -u >"$tmp/vdso"
	[ -s "$tmp/vdso" ] || fail "no frame in the vDSO"
	while read -r addr; do
		[ ${#addr} -ge 8 ] || fail "$addr is an offset in the 64-bit vDSO"
	done <"$tmp/vdso"
done
