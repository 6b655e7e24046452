#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Perf maps and jitdumps that are to take whoever reads them much time or memory: millions of lines and records, each for
# all of the code, holes of a terabyte, a line without an end, lengths that lie. The recording ends within its bound, in
# its memory, and a program beside them has its names.
# Beside another: it judges its own programs' names.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v setpriv >/dev/null || skip "needs setpriv"
chmod 755 "$tmp"
mkdir -m 777 "$tmp/theirs"
cp "$build/map_bomb" "$tmp"
"$tmp/map_bomb" >/dev/null 2>&1
[ $? -eq 77 ] && skip "its code is of x86-64"
for what in lines covers hole endless records empty jithole; do
	setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/map_bomb" $what "$tmp/theirs" >"$tmp/$what.out" 2>&1 &
	started="$started $!"
	eval "pid_$what=$!"
done
all_ready() { [ "$(cat "$tmp"/*.out | grep -c ready)" = 7 ]; }
wait_for "seven programs with maps" 120 all_ready
begin_recording "$tmp/trace" --memory=200M
timeout 120 "$load" relay --rounds 40 --hops pipe >/dev/null || fail "the relay"
end_within 20 "$tmp/trace" 200
walk_to "$tmp/folded" -U --no-objects -c '^alpha$' "$tmp/trace"
grep -qE '^alpha;.*;alpha_waits;read;--;write;bravo_wakes_alpha;bravo_runs;.*;bravo;' "$tmp/folded" ||
	fail "the relay has no chain with names:
$(cat "$tmp/folded" "$tmp/err.cap")"
# What they tell of themselves is shown or not, but is nobody else's, and their sleep is where it was.
walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects --state=blocked -c map_bomb "$tmp/trace"
! "$walk" -q -U -c '^(alpha|bravo|charlie|delta)$' "$tmp/trace" 2>/dev/null | grep bomb_ || fail "bomb_ in others"
# shellcheck disable=SC2154 # by eval
for pid in $pid_lines $pid_hole $pid_jithole; do
	"$walk" -q -U -d 0 --state=blocked -p "$pid" "$tmp/trace" >"$tmp/own" 2>"$tmp/err"
	expect_exit "chainwalk -p $pid" 0 $?
	[ -s "$tmp/own" ] || fail "no waits of $pid: $(cat "$tmp/err")"
done
echo "note: $mib MiB, $took s to end; $(grep -c 'bomb' "$tmp/folded") stacks of theirs"
