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
	timeout 300 "$cap" -q -F 0 -o "$tmp/trace" --request "own=$spec" "$@" -- "$probed" "$what" "$n" \
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
# 64 bytes of it.
expect_requests "calls by the thread with the second label" 40 request ", label .second$(printf 'x%.0s' $(seq 57))\$"
expect_requests "control characters of labels" 0 request "$(printf '\033')"
timeout 300 "$walk" -f requests "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect "-f requests: the endpoint" "own probed" "$(awk '$3 == 80 { print $1, $2 }' "$tmp/out" | sed 's|/[0-9]*$||')"
expect_at_least "-f requests: slow ones with their label" 1 "$(grep -c '^ .* probed/[0-9]* *first$' "$tmp/out")" "$tmp/out"
# The wait is explained by what the thread itself did, and the sums are exact.
timeout 300 "$walk" -q --unit ns --request '^own$' --blocked-stacks "$tmp/trace" 2>"$tmp/err" |
	grep -v '^\[note\] ' >"$tmp/out"
expect "folded lines: their sum, ns" "$(took_ns | awk '{ n += $1 } END { printf "%.0f", n }')" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' "$tmp/out")"
expect "folded lines that are not of the endpoint" 0 "$(grep -vc '^\[request own\] probed;' "$tmp/out")"
# The kernel has replaced the function's return address: below it the stack is as the program has it.
[ "$(uname -m)" = aarch64 ] || expect_at_least "folded lines of the sleep in the function, with its callers" 1 \
	"$(grep -c ';call;handle;.*;\[timer\] [0-9]*$' "$tmp/out")" "$tmp/out"

record calls 5 "$probed:handl?"
expect "calls of the one function that a glob fits" 10 "$(slow 2000)"
# From the second instruction of the function to its return, on one thread.
if command -v objdump >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	objdump -d --no-show-raw-insn "$probed" | awk '/<handle>:/ { on = 1; next } /^$/ { on = 0 }
		on && /^ / { sub(/:/, "", $1); n++; if (n == 1 || n == 2) print $1; if ($2 == "ret") last = $1 } END { print last }' >"$tmp/at"
	first=$(sed -n 1p "$tmp/at") second=$(sed -n 2p "$tmp/at") last=$(sed -n 3p "$tmp/at")
	record calls 5 "$probed:handle+$((0x$second - 0x$first)),$probed:handle+$(printf '0x%x' $((0x$last - 0x$first)))"
	expect "between two offsets" 10 "$(slow 2000)"
fi

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


# A function of C++, by its mangled name, as chainwalk shows it, and by a glob.
if command -v c++ >/dev/null; then
	cat >"$tmp/serve.cc" <<-'EOC'
		#include <unistd.h>
		namespace shop {
		struct order { int id; };
		template <typename T> struct box {
			__attribute__((noinline)) int serve(const T &o, int n)
			{
				usleep(1000);
				return o.id + n;
			}
		};
		}
		int main()
		{
			shop::box<shop::order> b;
			volatile int sum = 0;

			for (int i = 0; i < 30; i++)
				sum = sum + b.serve(shop::order{i}, i);
		}
	EOC
	c++ -O1 -fno-ipa-sra -o "$tmp/serve" "$tmp/serve.cc" 2>"$tmp/err" || fail "serve.cc: $(cat "$tmp/err")"
	for name in "$(nm "$tmp/serve" | awk '/serve/ { print $3 }')" "shop::box<shop::order>::serve" "shop::box*::serve"; do
		timeout 300 "$cap" -q -F 0 -o "$tmp/trace" --no-requests --request "own=$tmp/serve:$name" -- "$tmp/serve" 2>"$tmp/err"
		expect_exit "chaincap --request own=serve:$name: $(cat "$tmp/err")" 0 $?
		requests_at "$tmp/trace" "request own"
		expect_requests "$name: calls" 30 request ' probed,'
	done
	timeout 300 "$cap" -q -o "$tmp/none" --request "own=$tmp/serve:shop::box<shop::order>::serve(shop::order const&, int)" 0.1 2>"$tmp/err"
	expect "with its parameters: exit status" 1 $?
	expect "with its parameters: says" 1 "$(grep -c 'near it: shop::box<shop::order>::serve$' "$tmp/err")"
fi

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
	timeout 300 "$cap" -q -o "$tmp/earlier" --request "$1" 0.1 2>"$tmp/err"
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
