#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests that probes mark are as many as the program says, and as long: calls of a function, also when it calls
# itself, is left by longjmp(), or its thread ends in it; two marks with an id on different threads; USDT probes.
# Beside another: it counts requests of a program of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v cc >/dev/null || skip "no C compiler"
probed=$tmp/probed
cc -O2 -pthread -o "$probed" "$(dirname "$0")/../workload/requests/probed.c" 2>"$tmp/err" ||
	fail "probed.c: $(cat "$tmp/err")"

# record WHAT N SPEC [OPTION...]: requests are in $tmp/requests.
record() {
	what=$1 n=$2 spec=$3
	shift 3
	timeout 60 "$cap" -q -F 0 -o "$tmp/trace" --request "own=$spec" "$@" -- "$probed" "$what" "$n" \
		>"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap --request own=$spec -- probed $what $n: $(cat "$tmp/err")" 0 $?
	expect "$what: standard error" "" "$(cat "$tmp/err")"
	requests_at "$tmp/trace" "request own"
	expect_requests "$what: requests" "$(awk '$1 == "requests" { print $2 }' "$tmp/told")" request ' probed,'
	expect_requests "$what: unfinished" "$(awk '$1 == "unfinished" { print $2 }' "$tmp/told")" open ' probed,'
}

# took_ns: of each, how long.
took_ns() {
	awk '$3 == "request" {
		for (i = 1; i < NF; i++) { if ($i == "arrived") from = $(i + 1); if ($i == "answered") to = $(i + 1) }
		printf "%.0f\n", from - to
	}' "$tmp/requests"
}

# slow US: how many took that long.
slow() {
	took_ns | awk -v ns="$1"000 '$1 >= ns' | wc -l | tr -d ' '
}

record calls 40 "$probed:handle" --request-label arg2:string
expect "calls of 2 ms or more" 80 "$(slow 2000)"
expect_at_least "calls of 8 ms or more" 16 "$(slow 8000)" "$tmp/requests"
expect_requests "calls by the thread with the first label" 40 request ', label first'
expect_requests "calls by the thread with the second label" 40 request ', label .second'
expect_requests "control characters of labels" 0 request "$(printf '\033')"
timeout 60 "$walk" -f requests "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect "-f requests: the endpoint" "own probed" "$(awk '$3 == 80 { print $1, $2 }' "$tmp/out" | sed 's|/[0-9]*$||')"
expect_at_least "-f requests: slow ones with their label" 1 "$(grep -c '^ .* probed/[0-9]* *first$' "$tmp/out")" "$tmp/out"
# The wait is explained by what the thread itself did, and the sums are exact.
timeout 60 "$walk" -q --request '^own$' --blocked-stacks "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect "folded lines: their sum, us" "$(took_ns | awk '{ n += $1 } END { printf "%.0f", n / 1000 }')" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' "$tmp/out")"
expect "folded lines that are not of the endpoint" 0 "$(grep -vc '^\[request own\] probed;' "$tmp/out")"
# The kernel has replaced the function's return address: below it the stack is as the program has it.
[ "$(uname -m)" = aarch64 ] || expect_at_least "folded lines of the sleep in the function, with its callers" 1 \
	"$(grep -c ';call;handle;.*;\[timer\] [0-9]*$' "$tmp/out")" "$tmp/out"

record recursion 10 "$probed:nested"
expect "outermost calls, of 3 ms" 10 "$(slow 3000)"
record jumps 20 "$probed:jumping"
record deaths 10 "$probed:dying"
record execs 5 "$probed:becoming"

# The numbers are of 32 bits: the rest of the register may be anything.
record marks 200 "$probed:begin_job@arg1:u32,$probed:end_job@arg2:u32" --request-label arg1:u32
expect "jobs of 1 ms or more" 200 "$(slow 1000)"
expect_requests "jobs with their own numbers" 200 request ', label 1000[0-9][0-9][0-9]$'
expect "numbers of jobs" 200 "$(awk '$3 == "request" { print $NF }' "$tmp/requests" | sort -u | wc -l)"
expect_requests "jobs that begin on the main thread" 200 request ", read by probed/"
record usdt 200 "usdt:$probed:jobs:begin@arg2,usdt:$probed:jobs:end@arg1" --request-label arg1
expect "jobs of USDT probes, of 1 ms or more" 200 "$(slow 1000)"
expect_requests "the constant argument" 200 request ', label 1$'


# In the flight recorder; and those that have not ended at the end of the recording.
fly "$tmp/flight" --flight 60s --no-requests --request "own=$probed:waiting" --request "calls=$probed:handle" \
	--trigger-request calls=5ms
"$probed" open 3 >"$tmp/open" &
open=$!
started="$started $open"
wait_for "three calls have begun" 20 grep -q ready "$tmp/open"
"$probed" calls 10 >"$tmp/told"
wait_for "a trace of a call of 8 ms" 20 written "$tmp/flight"
end_recording
kill "$open"
requests_at "$(find "$tmp" -name 'flight*' -type f | sort | tail -n 1)" "request own"
expect_requests "flight recorder: calls that go on" 3 open
requests_at "$(find "$tmp" -name 'flight*' -type f | sort | tail -n 1)" "request calls"
expect_requests "flight recorder: calls" 20 request
expect_at_least "flight recorder: it says which took too long" 1 \
	"$(grep -c '^chaincap: a request to calls took ' "$tmp/err.cap")" "$tmp/err.cap"

# refused SPEC REASON: an earlier trace is as before.
echo earlier >"$tmp/earlier"
refused() {
	timeout 60 "$cap" -q -o "$tmp/earlier" --request "$1" 0.1 2>"$tmp/err"
	expect "chaincap --request $1: exit status" 1 $?
	expect "chaincap --request $1: says" 1 "$(grep -c "$2" "$tmp/err")"
	expect "chaincap --request $1: the earlier trace" earlier "$(cat "$tmp/earlier")"
}
refused "own=$probed:handel" "has no function handel; near it: handle"
refused "own=$probed:*_job" "several functions of $probed fit \*_job: "
refused "own=$tmp/nothing:handle" "nothing: No such file or directory"
refused "own=$tmp/earlier:handle" "earlier is no program or library"
refused "own=$tmp:handle" ": not a file"
refused "own=usdt:$probed:jobs:begins,usdt:$probed:jobs:end" "has no USDT probe jobs:begins; near it: jobs:begin"
refused "own=usdt:$probed:jobs:begin@arg3,usdt:$probed:jobs:end@arg1" "has no such argument"
refused "own=$probed:handle+100000,$probed:nested" "not in the code of handle"
