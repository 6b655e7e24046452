#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light takes at most 2000 stacks of sleeping threads a second on each CPU: where more sleeps end, the long ones have
# theirs, and the others are [short]. Sleeps that timers of the sleepers' own end take none from the others. The trace says
# how long a sleep had to last.
# Beside another: it counts what its own threads do.
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
command -v perl >/dev/null || skip "no perl"
# 64 that sleep 1.2 ms and more all the time, as no machine here can wake without an end, and one that sleeps longer. While the time that
# a sleep has to last comes down to theirs, each few seconds for a tenth of one, they are first.
perl -e '$0 = "naps"; $end = time + 60; fork for 1 .. 6; select undef, undef, undef, 0.0012 while getppid() != 1 && time < $end' &
started="$started $!"
perl -e '$0 = "sleeps"; select undef, undef, undef, 0.1 while 1' &
sleeps=$!
started="$started $sleeps"
"$load" relay --rounds 1000000 --hops pipe,futex --work 50 --sleep 3000 --seconds 100 >/dev/null &
started="$started $!"
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
expect_at_least "ns with stacks, of one that sleeps longer than most" $((all * 7 / 10)) "$whole" "$tmp/folded"
asleep naps
expect_at_least "ns without, of those that sleep more often than stacks are taken" $((all / 2)) "$short" "$tmp/folded"
expect_at_least "ns with stacks or known to be left out" $((all * 9 / 10)) $((whole + short)) "$tmp/folded"
"$walk" -q --unit=ns -c '^(alpha|bravo|charlie)$' --state blocked --min 1ms "$tmp/t.bin" | grep -v '\[timer\]' >"$tmp/folded" 2>"$tmp/err"
all=$(weight_of '' "$tmp/folded")
[ "$all" -gt 1000000000 ] || fail "the relay waits all the time, and not for $all ns: $(cat "$tmp/folded" "$tmp/err")"
expect_at_least "ns with stacks, of who is woken by others" $((all * 95 / 100)) "$(weight_of '^[a-z]*;([^[]|\[lib).*;-;' "$tmp/folded")" "$tmp/folded"
"$walk" -q -f info "$tmp/t.bin" >"$tmp/info"
expect "how long a sleep had to last, in ns" 1000000 "$(sed -n 's/^stacks_from_ns: //p' "$tmp/info")"
expect_at_least "ns, at most, if a timer ended it" 1100000 "$(sed -n 's/^timer_stacks_from_at_most_ns: //p' "$tmp/info")" "$tmp/info"
expect_at_least "ns of all CPUs in which it was more" 1000000000 "$(sed -n 's/^timer_stacks_from_raised_ns: //p' "$tmp/info")" "$tmp/info"
expect "ns, at most, of others" "" "$(sed -n 's/^stacks_from_at_most_ns: //p' "$tmp/info")"
