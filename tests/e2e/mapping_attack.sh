#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Eight processes have 65 thousand mappings each before the recording begins, and two map one of theirs anew for ever.
# That costs the names of these, which is said at the end and in the trace; no event is lost, the recording begins and
# ends in time, and a program that starts later has its names.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_bpf
command -v cc >/dev/null || skip "needs cc"
command -v setpriv >/dev/null || skip "needs setpriv"
cc -O2 -o "$tmp/attack" "$(dirname "$0")/../attacks/mapping_attack.c" || fail "cc"
chmod 755 "$tmp"

# attack COUNT [again]: as an ordinary user
attack() {
	setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/attack" "$@" >>"$tmp/ready" 2>&1 &
	started="$started $!"
}

for _ in 1 2 3 4 5 6 7 8; do
	attack 65000
done
attack 60000 again
attack 60000 again
has_all() { [ "$(grep -c ready "$tmp/ready")" = 10 ]; }
wait_for "ten processes with many mappings" 60 has_all
before=$(date +%s)
begin_recording "$tmp/trace"
expect_at_most "seconds to begin" 20 $(($(date +%s) - before)) "$tmp/err.cap"
sleep 2
timeout 120 "$load" relay --rounds 20 --hops pipe >/dev/null || fail "the relay"
end_within 20
expect_whole "$tmp/trace"
read_info "$tmp/trace"
expect "events lost" 0 "$(info_figure lost)"
echo "note: $(info_figure mappings_lost) records of memory mappings are lost"
walk_to "$tmp/folded" -c alpha "$tmp/trace"
grep -q '^alpha;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "names of the relay are missing:
$(head -n 5 "$tmp/folded")"
# Only the two that go on had stacks in this time.
grep -q '^attack/[0-9]*, attack/[0-9]*: mapped more code than is kept: functions have no names$' "$tmp/err" ||
	fail "chainwalk does not say which processes were given up: $(cat "$tmp/err")"
