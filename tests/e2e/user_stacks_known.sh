#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A user stack that ends at generated code is known again without being unwound, whatever data that code has
# in the register of the frame pointer; and it is what unwinding finds, also where the data is a frame pointer
# now and then. The calls below it save the register, or do not touch it.
# Beside another: it judges its own program's stacks, and counts others' events.
. "$(dirname "$0")/lib.sh"
needs_bpf
sources=$(cd "$(dirname "$0")/../stacks" && pwd)
command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
for way in omit no-omit; do
	${CC:-cc} -O2 -std=gnu17 -fno-optimize-sibling-calls -f$way-frame-pointer -o "$tmp/register" \
		"$sources/register.c" 2>"$tmp/err" || fail "register.c: $(head -5 "$tmp/err")"
	timeout 300 "$cap" -v -F 0 -o "$tmp/trace" -- "$tmp/register" 20000 2>"$tmp/err"
	expect_exit "chaincap -- register, -f$way-frame-pointer" 0 $?
	line=$(sed -n 's/^chaincap: unwinding: //p' "$tmp/err")
	# shellcheck disable=SC2046 # numbers
	set -- $(echo "$line" | tr -cs '0-9' ' ')
	echo "note: -f$way-frame-pointer: $line"
	expect_at_least "stacks known again, -f$way-frame-pointer" 15000 "$1" "$tmp/err"
	unwound=$2
	# Other programs' stacks are new and unwound: at most one for each of their events.
	others=$("$walk" -q -f events "$tmp/trace" | grep -vc ' register/')
	is_sanitized ||
		expect_at_most "stacks unwound, -f$way-frame-pointer" $((5000 + others)) "$unwound" "$tmp/err"

	timeout 300 "$cap" --verify -F 0 -o "$tmp/trace" -- "$tmp/register" 20000 mixed 2>"$tmp/err"
	expect_exit "chaincap --verify -- register, -f$way-frame-pointer" 0 $?
	line=$(sed -n 's/^chaincap: verified: //p' "$tmp/err")
	# shellcheck disable=SC2046 # numbers
	set -- $(echo "$line" | tr -cs '0-9' ' ')
	# As many copies of stacks as the ring has room for.
	expect_at_least "user stacks compared, -f$way-frame-pointer" 2000 "$3" "$tmp/err"
	expect "user stacks that differ, -f$way-frame-pointer" 0 "$4"
done
