#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is known without a walk is what a walk finds: --verify compares on mixed load and finds no
# difference, nor in interrupts; and most stacks of a busy pipe are known without a walk. User stacks
# are what libdwfl makes of a copy of them.
# Beside another: each stack is compared with another way to find it, whoever runs.
. "$(dirname "$0")/lib.sh"
needs_bpf
cat >"$tmp/mixed" <<END
taskset -c 0 perf bench --format simple sched pipe -l 30000
perf bench --format simple sched messaging -g 4 -l 200
"$load" relay --rounds 10 --hops tcp,unix,pipe
"$load" diskio --dir "$tmp" --seconds 600
"$load" bystander --rounds 200 --sleep 1000
find /usr/share -name 'x*'
END
timeout 300 "$cap" --verify -v -o "$tmp/trace" -- sh "$tmp/mixed" >/dev/null 2>"$tmp/err"
expect_exit "chaincap --verify" 0 $?
grep -q '^chaincap: --verify: the recorder itself reads' "$tmp/err" || fail "the danger is not said: $(cat "$tmp/err")"
line=$(grep '^chaincap: verified:' "$tmp/err") || fail "no verdict: $(cat "$tmp/err")"
echo "note: ${line#chaincap: }"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
[ "$1" -gt 20000 ] || fail "only $1 kernel stacks were compared"
[ "$3" -gt 5000 ] || fail "only $3 user stacks were compared"
[ "$2" -eq 0 ] || fail "$2 kernel stacks differ from a plain walk"
[ "$4" -eq 0 ] || fail "$4 user stacks differ from a plain walk: $(grep -A 50 'a stack differs' "$tmp/err" | head -100)"
only_plain "how many kernel stacks are known, which a slow recorder learns late"
# shellcheck disable=SC2046 # numbers
set -- $(sed -n 's/^chaincap: kernel stacks: \([0-9]*\) known without a walk, \([0-9]*\) walked.*/\1 \2/p' "$tmp/err")
[ "$1" -gt $((2 * $2)) ] || fail "of the kernel stacks $1 were known and $2 walked"
