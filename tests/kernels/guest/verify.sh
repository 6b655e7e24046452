#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is known without a walk is what a walk finds on this kernel too, whose stacks, entry code and
# unwinder are others than those of the kernel that runs make test.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_usual "kernel stacks known without a walk"
cat >"$tmp/mixed" <<END
for hop in pipe futex eventfd unix tcp; do
	taskset 1 "$load" pingpong --hops \$hop --work 0 --rounds 10000 --seconds 20
done
"$load" relay --rounds 5 --hops tcp,unix,pipe
"$load" convoy --threads 4 --rounds 20 --work 500
for i in \$(seq 50); do /bin/true; done
END
timeout 200 "$cap" --verify -v -o "$tmp/trace" -- sh "$tmp/mixed" >/dev/null 2>"$tmp/err"
expect_exit "chaincap --verify" 0 $?
line=$(grep '^chaincap: verified:' "$tmp/err") || fail "no verdict: $(cat "$tmp/err")"
echo "note: ${line#chaincap: }"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
expect_at_least "kernel stacks compared" 20000 "$1" "$tmp/err"
expect_at_least "user stacks compared" 10000 "$3" "$tmp/err"
expect "kernel stacks that differ from a plain walk" 0 "$2"
expect "user stacks that differ from a plain walk
$(grep -A 50 'a stack differs' "$tmp/err" | head -100)
number" 0 "$4"
line=$(grep '^chaincap: kernel stacks: ' "$tmp/err")
echo "note: ${line#chaincap: }"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
# Until the recorder has learnt a stack, of which there are some 30 here, it is walked: for as long as the recorder gets no
# CPU, thousands of times. The hops go on for several times that.
[ "$1" -gt $((2 * $2)) ] || fail "of the kernel stacks $1 were known and $2 walked"
