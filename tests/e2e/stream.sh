#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap -o - | chainwalk -: no file in between, no seeking, the same names.
# Beside another: it compares names of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
"$load" relay --rounds 1000 --seconds 600 >"$tmp/told" &
started="$started $!"
{
	timeout 300 "$cap" -F 0 -o - 1 2>"$tmp/err.cap"
	echo $? >"$tmp/exit.cap"
} | timeout 300 "$walk" --unit=ns - >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk -" 0 $?
expect "exit status of chaincap -o - 1 ($(cat "$tmp/err.cap"))" 0 "$(cat "$tmp/exit.cap")"
grep '^alpha;.*;--;' "$tmp/folded" | skeleton '^[a-z]*_wakes_[a-z]*$' >"$tmp/chains"
grep -q '^alpha;.*;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;\[running\] ' \
	"$tmp/chains" || fail "the relay is not in the stream
$(head -20 "$tmp/chains")"
