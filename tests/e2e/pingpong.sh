#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads that wait for each other: exact chains end at the partner, who was at work; classic
# ones come round again and say so.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=50
for hop in futex pipe tcp; do
	record_thread "$tmp/trace" "$tmp/folded" ping \
		pingpong --hops $hop --work 1000 --rounds $rounds
	grep ';ping_waits;.*;--;' "$tmp/folded" |
		skeleton '^(p[io]ng_waits|p[io]ng_wakes_p[io]ng)$' >"$tmp/chains"
	expect_waits "$hop: all of ping's waits" ping "$(weight_of ';ping_waits;.*;--;' "$tmp/folded")" $rounds "$tmp/trace"
	# pong may have worked before ping slept, so that some of its work is in no chain. From when ping let it
	# go on until it waits again (held_ns) it runs or has no CPU, and it runs for the CPU time of its work (nine
	# tenths, see expect_work), so that it has no CPU for the rest at most, however busy the machine is.
	pong='ping;ping_waits;--;pong_wakes_ping;pong'
	running=$(weight "$pong;[running]" "$tmp/chains") runnable=$(weight "$pong;[runnable]" "$tmp/chains")
	held=$(told pong held_ns)
	expect_at_most "$hop: pong running and runnable, and held" "$held" $((running + runnable)) "$tmp/chains"
	expect_at_most "$hop: pong runnable, and held without running" $((held - $(told pong cpu_ns) * 9 / 10)) \
		"$runnable" "$tmp/chains"
	expect "$hop: exact chains that do not end with pong, who was awake" "" \
		"$(grep -v '^ping;ping_waits;--;pong_wakes_ping;pong;\[runn[a-z]*\] ' "$tmp/chains")"

	walk_to "$tmp/folded" --mode=classic -t "$(tid ping)" "$tmp/trace"
	grep ';ping_waits;.*;--;' "$tmp/folded" | skeleton '^(ping_waits|pong_wakes_ping)$' >"$tmp/chains"
	grep -q '^ping;ping_waits;--;pong_wakes_ping;pong;.*\[loop\] ' "$tmp/chains" ||
		fail "$hop: no [loop] through pong in classic mode
$(cat "$tmp/chains")"
	# but for the first waits, whose wakers' wakers are from before
	all=$(weight_of . "$tmp/chains")
	expect_at_least "$hop: classic chains that end in [loop]" $((all / 2)) \
		"$(weight_of '\[loop\] ' "$tmp/chains")" "$tmp/chains"
done
