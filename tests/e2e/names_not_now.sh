#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With --names=later a trace has no name of a user function, also not of interpreted code or by a perf map, but what
# chainwalk needs to name them later. That they were left out is said by both.
# Beside another: it compares names of its own programs.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
cp "$build/names_load" "$tmp/n_not_now"

cat >"$tmp/both" <<END
python3 -c '
import time
def naps():
    for _ in range(50):
        time.sleep(0.01)
naps()'
exec "$tmp/n_not_now" wait \$1 1000
END
# A stack is cut as long as the rules of its code have not been read, on a busy machine for longer than a third of a
# second. The program itself has a symbol table, and is where it was recorded.
mkdir "$tmp/none"
named='main;exported_outer;local_outer;exported_inner;local_inner;local_sleep'
for waits in 300 1500 6000; do
	timeout 300 "$cap" --names=later -o "$tmp/trace" -- sh "$tmp/both" $waits >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap --names=later" 0 $?
	timeout 300 "$walk" -q -U -d 0 -c n_not_now --debug-dir="$tmp/none" "$tmp/trace" >"$tmp/later" 2>&1
	expect_exit "chainwalk --debug-dir" 0 $?
	! grep -q "$named" "$tmp/later" || break
done
grep -q "$named" "$tmp/later" || fail "names by chainwalk
expected: $named
got:
$(head -5 "$tmp/later")"
grep -q 'user functions in [0-9]* files were not looked up: chainwalk --debug-dir or --debuginfod names them' "$tmp/err" ||
	fail "not said by chaincap: $(cat "$tmp/err")"

"$walk" -U -d 0 --state=all "$tmp/trace" >"$tmp/folded" 2>"$tmp/summary"
grep -q 'chaincap/[0-9]*: user functions were not looked up: chainwalk --debug-dir or --debuginfod' "$tmp/summary" ||
	fail "not said by chainwalk: $(cat "$tmp/summary")"
expect "stacks with names of user functions" 0 \
	"$(grep -c -e ';main' -e ';exported_inner' -e ';naps' -e ';_start' -e ';__libc' "$tmp/folded")"
