#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap -- COMMAND ends with the command's status, gives it its input and output, and leaves a trace.
. "$(dirname "$0")/lib.sh"
needs_bpf
for status in 0 7; do
	timeout 30 "$cap" -o "$tmp/trace" -- sh -c "exit $status" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- sh -c 'exit $status'" $status $?
	timeout 30 "$walk" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk of that trace" 0 $?
done
# shellcheck disable=SC2016 # $$ is the command's
timeout 30 "$cap" -o "$tmp/trace" -- sh -c 'kill -TERM $$' >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- a command that a signal ends" 143 $?
got=$(echo in | timeout 30 "$cap" -o "$tmp/trace" -- sed 's/^/out of /' 2>"$tmp/err")
expect "the command's input and output" "out of in" "$got"
timeout 30 "$cap" -o "$tmp/trace" -- /nonexistent/command >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- a command that does not exist" "1 127" $?
grep -q '/nonexistent/command' "$tmp/err" || fail "the missing command is not named in
$(cat "$tmp/err")"
