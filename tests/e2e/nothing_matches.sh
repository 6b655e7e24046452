#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A choice that fits nothing is told: no output alone would look like a program that never waits.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data/relay.bin
timeout 60 "$walk" -t 4000000 -p 4000001 -c nobody -c '^alpha$' --from 1000 "$data" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk with choices that fit nothing" 0 $?
expect "results" "" "$(cat "$tmp/out")"
for said in 'no thread 4000000 in' 'no process 4000001 in' "no thread's name fits 'nobody' in" '--from lies behind its end'; do
	grep -qF -e "$said" "$tmp/err" || fail "it does not say: $said
$(cat "$tmp/err")"
done
! grep -q alpha "$tmp/err" || fail "it complains of a name that there is
$(cat "$tmp/err")"
walk_to "$tmp/out" -c '^alpha$' "$data"
expect "complaints of a choice that fits" "" "$(grep 'no thread' "$tmp/err")"
