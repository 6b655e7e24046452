#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads that wait for each other: exact chains end at the partner, who was at work; classic
# ones come round again and say so.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=50
for hop in futex pipe tcp; do
	record_thread "$tmp/trace" "$tmp/folded" ping \
		pingpong --hops $hop --work 1000 --rounds $rounds
	grep ';ping_waits;.*;--;' "$tmp/folded" |
		skeleton '^(p[io]ng_waits|p[io]ng_wakes_p[io]ng)$' >"$tmp/chains"
	# On a busy machine pong may have worked before ping got to sleep: then there is no wait.
	running=$(weight 'ping;ping_waits;--;pong_wakes_ping;pong;[running]' "$tmp/chains")
	expect_at_least "$hop: pong's work" $((rounds * 1000000 / 10)) "$running" "$tmp/chains"
	expect_at_most "$hop: pong's work" $((rounds * 1500000)) "$running" "$tmp/chains"
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
