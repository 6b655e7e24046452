#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process or thread that the trace does not have is an error that says what is near; one of several traces may
# lack it. A range behind the end is reported: an empty result alone would look like a program that never waits.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data/relay.bin
timeout 60 "$walk" -t 4000000 -p 4000001 -p chianload -c nobody -c '^alpha$' --from 1000 -o "$tmp/out" "$data" 2>"$tmp/err"
expect_exit "chainwalk with filters that match nothing" 1 $?
[ ! -e "$tmp/out" ] || fail "there is a result"
for said in 'no thread 4000000 in' 'no process 4000001 in' "no thread name matches 'nobody' in" \
	"no process 'chianload' in this trace; there is: chainload (" '--from is after the end of the trace'; do
	grep -qF -e "$said" "$tmp/err" || fail "it does not say: $said
$(cat "$tmp/err")"
done
! grep -q alpha "$tmp/err" || fail "it complains of a name that the trace has
$(cat "$tmp/err")"
walk_to "$tmp/out" -c '^alpha$' "$data"
expect "complaints of a filter that matches" "" "$(grep 'no thread' "$tmp/err")"
timeout 60 "$walk" -p nobody "$data" "$data" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk of two traces that lack a process" 1 $?
timeout 60 "$walk" -q -c '^alpha$' "$data" "$(dirname "$data")/idle.bin" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk of two traces one of which has the thread" 0 $?
[ -s "$tmp/out" ] || fail "no result of the trace that has the thread"
