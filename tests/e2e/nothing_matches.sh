#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A filter that matches nothing is reported: an empty result alone would look like a program that never waits.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data/relay.bin
timeout 60 "$walk" -t 4000000 -p 4000001 -c nobody -c '^alpha$' --from 1000 "$data" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk with filters that match nothing" 0 $?
expect "results" "" "$(cat "$tmp/out")"
for said in 'no thread 4000000 in' 'no process 4000001 in' "no thread name matches 'nobody' in" '--from is after the end of the trace'; do
	grep -qF -e "$said" "$tmp/err" || fail "it does not say: $said
$(cat "$tmp/err")"
done
! grep -q alpha "$tmp/err" || fail "it complains of a name that the trace has
$(cat "$tmp/err")"
walk_to "$tmp/out" -c '^alpha$' "$data"
expect "complaints of a filter that matches" "" "$(grep 'no thread' "$tmp/err")"
