#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light keeps who sleeps by the low bits of the thread's id, and anybody can start threads until one has the same
# ones: it sleeps and wakes all the time, and the other one's long sleeps have their stacks all the same.
# Alone: ids of threads go on from a number that is set here
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
command -v perl >/dev/null || skip "no perl"
most=/proc/sys/kernel/pid_max last=/proc/sys/kernel/ns_last_pid
had=$(cat $most)
trap 'echo "$had" >$most; clean_up' EXIT
echo 200000 >$most 2>/dev/null && [ -w $last ] || skip "the range of thread ids cannot be set here"

perl -e '$0 = "innocent"; select undef, undef, undef, 0.02 while 1' &
innocent=$!
started="$started $innocent"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	echo $((innocent + 65535)) >$last
	perl -e 'select undef, undef, undef, 0.0003 while 1' &
	started="$started $!"
	[ $! != $((innocent + 65536)) ] || break
done
[ $! = $((innocent + 65536)) ] || skip "others took the id each time"

begin_recording "$tmp/t.bin" --light 1ms
sleep 3
end_recording
"$walk" -q -t "$innocent" --unit=ns --state blocked "$tmp/t.bin" >"$tmp/folded" 2>"$tmp/err"
all=$(weight_of '' "$tmp/folded")
[ "$all" -gt 1000000000 ] || fail "it sleeps for 2.9 s and more, and not for $all ns: $(cat "$tmp/folded" "$tmp/err")"
named=$(weight_of '^[^;]*;[^;]*;.*;-;' "$tmp/folded")
expect_at_least "ns of its sleeps with a user stack" $((all * 9 / 10)) "$named" "$tmp/folded"
