#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of a stripped program are told apart by the bounds in its unwinding tables: each of the three
# local functions of names_load is a frame of its own, [FILE+0xSTART], and START is its address in the
# program before it was stripped. Such a frame counts as one without a symbol.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v strip >/dev/null && command -v nm >/dev/null || skip "needs strip and nm"
cp "$build/names_load" "$tmp/n_stripped"
strip "$tmp/n_stripped"
timeout 300 "$cap" -v -o "$tmp/trace" -- "$tmp/n_stripped" wait 300 1000 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- n_stripped" 0 $?
grep -q 'told apart [1-9]' "$tmp/err" || fail "chaincap -v counts no function without a symbol:
$(cat "$tmp/err")"
timeout 300 "$walk" -U -d 0 -c n_stripped --within local_sleep "$tmp/trace" >"$tmp/folded" 2>/dev/null
expect "frames with names of stripped functions" "" "$(cat "$tmp/folded")"
timeout 300 "$walk" -U -d 0 -c n_stripped --within exported_inner "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk" 0 $?

start() {
	printf '%x' "0x$(nm "$build/names_load" | awk -v name="$1" '$3 == name { print $1 }')"
}
want="exported_outer;[n_stripped+0x$(start local_outer)];exported_inner"
want="$want;[n_stripped+0x$(start local_inner)];[n_stripped+0x$(start local_sleep)]"
grep -qF "$want" "$tmp/folded" || fail "local functions by their bounds
expected: $want
got:
$(cat "$tmp/folded")"
