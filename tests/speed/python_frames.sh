#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of 99 % of the time of a Python program's threads the stacks have functions of the program: those of threads that
# were asleep at the start, too, and of those that run meanwhile. On a busy machine it takes a while until the
# recorder has seen which processes run Python.
. "$(dirname "$0")/../e2e/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
stacks=$(dirname "$0")/../stacks
python3 "$stacks/paths.py" $$ &
pid=$!
started="$started $pid"
sleep 1
"$cap" -o "$tmp/trace" 3 2>"$tmp/err"
expect_exit chaincap 0 $?
walk_to "$tmp/folded" -p "$pid" -U -d 0 --no-ends "$tmp/trace"
python3 "$stacks/paths_judge.py" "$stacks/paths.py" "$tmp/folded" >"$tmp/judged" || fail "$(cat "$tmp/judged")"
echo "note: $(tail -n 1 "$tmp/judged")"
expect_at_least "percent of the time with functions" 99 "$(sed -n 's/.*with frames \([0-9.]*\) %/\1/p' "$tmp/judged")" "$tmp/judged"
