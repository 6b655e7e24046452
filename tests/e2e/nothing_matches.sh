#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process or thread that the trace does not have is an error that says what is near; one of several traces may
# lack it. A range behind the end is reported: an empty result alone would look like a program that never waits.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data/relay.bin
timeout 300 "$walk" -t 4000000 -p 4000001 -p chianload -c nobody -c '^alpha$' --from 1000 -o "$tmp/out" "$data" 2>"$tmp/err"
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
timeout 300 "$walk" -p nobody "$data" "$data" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk of two traces that lack a process" 1 $?
timeout 300 "$walk" -q -c '^alpha$' "$data" "$(dirname "$data")/idle.bin" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk of two traces one of which has the thread" 0 $?
[ -s "$tmp/out" ] || fail "no result of the trace that has the thread"

# What is waited for likewise.
data=$(dirname "$0")/../data/things.bin
# refused SAID OPTION...: nothing is like that in the trace, which is said.
refused() {
	said=$1
	shift
	timeout 300 "$walk" -o "$tmp/none" "$@" 2>"$tmp/err"
	expect_exit "chainwalk $*" 1 $?
	[ ! -e "$tmp/none" ] || fail "chainwalk $*: there is a result"
	grep -qF -e "$said" "$tmp/err" || fail "chainwalk $* does not say: $said
$(cat "$tmp/err")"
}
refused "no object matches 'nosuch' in this trace" --object nosuch "$data"
refused "no object matches 'nosuch' in this trace" -f objects --object '^\[file' --object nosuch "$data"
refused "no object of class 'foo' in this trace" --class foo "$data"
refused "no object of class 'foo', 'bar' in this trace" -f tree --class foo,bar "$data"
refused "does not say what was waited for" --class file "$(dirname "$data")/relay.bin"
walk_to "$tmp/out" --class foo,file --object '^\[file' "$data"
[ -s "$tmp/out" ] || fail "no result of a class that is there beside one that is not"

# Requests likewise: the endpoint, or the process.
data=$(dirname "$0")/../data/shop.bin
refused "no endpoint matches '/nosuch' in this trace (--format=requests lists them)" --request /cart --request /nosuch "$data"
refused "no endpoint matches ':80' in this trace" -f requests --request ':80' "$(dirname "$data")/relay.bin"
walk_to "$tmp/out" --request '^front$' --request '/stock/' "$data"
[ -s "$tmp/out" ] || fail "no result of a process and an endpoint that are there"
refused "no request is known to be of trace 00000000000000000000000000c0ffee" --trace-id c0ffee "$data"
walk_to "$tmp/out" --trace-id 0000000000c0ffee0000000000002009 "$data"
expect "requests of one trace" "[request tcp :35951 /cart] front,[request tcp :42639 /stock/?[31m{id}] back," \
	"$(sed 's/;.*//' "$tmp/out" | sort -u | tr '\n' ',')"
timeout 300 "$walk" --trace-id 0x2009 "$data" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk --trace-id 0x2009" 2 $?
