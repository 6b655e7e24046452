#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The trace of a command has the arguments of the programs that the command started, and of none of others'.
# Beside another: it judges what its own commands are called.
. "$(dirname "$0")/lib.sh"
needs_bpf
sh -c 'while :; do env printf "" stranger-secret; sleep 0.05; done' >"$tmp/out" 2>&1 &
started="$started $!"
long=$(printf '%0400d' 0)
timeout 300 "$cap" -q -o "$tmp/trace" -- sh -c "env printf '' first \"two words\"; env printf '' $long last; sleep 0.3; :" \
	>"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- sh" 0 $?
"$walk" -q --all -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?
grep -q ' exec .* [^ ]*/printf  first two words$' "$tmp/events" || fail "no arguments: $(grep ' exec ' "$tmp/events")"
grep -q ' exec .* [^ ]*/printf  0*\.\.\.0* last$' "$tmp/events" || fail "arguments are not cut: $(grep ' exec ' "$tmp/events")"
grep -q ' exec .* [^ ]*/printf$' "$tmp/events" || fail "the stranger's programs were not seen: $(grep ' exec ' "$tmp/events")"
! grep -aq stranger-secret "$tmp/trace" || fail "a stranger's arguments are in the trace"
