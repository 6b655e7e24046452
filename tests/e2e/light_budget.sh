#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light takes at most 2000 stacks of sleeping threads a second on each CPU: where more sleeps end, the long ones have
# theirs, and the others are [short].
# Beside another: it counts what its own threads do.
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
command -v perl >/dev/null || skip "no perl"
# 64 that sleep 1.2 ms and more all the time, as no machine here can wake without an end, and one that sleeps longer.
perl -e '$0 = "naps"; $end = time + 60; fork for 1 .. 6; select undef, undef, undef, 0.0012 while getppid() != 1 && time < $end' &
started="$started $!"
perl -e '$0 = "sleeps"; select undef, undef, undef, 0.1 while 1' &
sleeps=$!
started="$started $sleeps"
begin_recording "$tmp/t.bin" --light 1ms
sleep 5
end_recording
# asleep NAME: the time that those of the name slept, $all, of which $whole with their stacks, $short without
asleep() {
	"$walk" -q -c "^$1\$" --unit=ns --state blocked "$tmp/t.bin" >"$tmp/folded" 2>"$tmp/err"
	all=$(weight_of '' "$tmp/folded")
	whole=$(weight_of "^$1;[^[].*;-;" "$tmp/folded")
	short=$(weight_of "^$1;\\[short\\]" "$tmp/folded")
	[ "$all" -gt 1000000000 ] || fail "$1: asleep for $all ns: $(cat "$tmp/folded" "$tmp/err")"
}
asleep sleeps
expect_at_least "ns with stacks, of one that sleeps longer than most" $((all * 9 / 10)) "$whole" "$tmp/folded"
asleep naps
expect_at_least "ns without, of those that sleep more often than stacks are taken" $((all / 2)) "$short" "$tmp/folded"
expect_at_least "ns with stacks or known to be left out" $((all * 9 / 10)) $((whole + short)) "$tmp/folded"
