#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads that wait for each other: exact chains end at the partner, who was at work; classic
# ones come round again and say so.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=50
for hop in futex pipe tcp; do
	record "$tmp/trace" pingpong --hops $hop --work 1000 --rounds $rounds
	walk_to "$tmp/folded" -t "$(tid ping)" "$tmp/trace"
	grep ';ping_waits;.*;--;' "$tmp/folded" |
		skeleton '^(p[io]ng_waits|p[io]ng_wakes_p[io]ng)$' >"$tmp/chains"
	expect_near "$hop: pong's work" $((rounds * 1000000)) \
		"$(weight 'ping;ping_waits;--;pong_wakes_ping;pong;[running]' "$tmp/chains")" \
		$rounds "$tmp/chains"
	expect "$hop: exact chains of more than one link" "" "$(grep -e '--;.*--' "$tmp/chains")"

	walk_to "$tmp/folded" --mode=classic -t "$(tid ping)" "$tmp/trace"
	grep ';ping_waits;.*;--;' "$tmp/folded" | skeleton '^(ping_waits|pong_wakes_ping)$' >"$tmp/chains"
	grep -q '^ping;ping_waits;--;pong_wakes_ping;pong;.*\[loop\] ' "$tmp/chains" ||
		fail "$hop: no [loop] through pong in classic mode
$(cat "$tmp/chains")"
	all=$(weight_of . "$tmp/chains")
	expect_at_least "$hop: classic chains that end in [loop]" $((all * 9 / 10)) \
		"$(weight_of '\[loop\] ' "$tmp/chains")" "$tmp/chains"
done
