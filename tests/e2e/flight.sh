#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --flight keeps the last while: a trace on each SIGUSR1 and one at the end, of which each begins no
# earlier than the window and explains what happened in it.
# Beside another: its bounds are for its own threads, and hold on a busy machine.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=5
fly "$tmp/trace.bin" -F 0 --flight 3s
timeout 300 "$load" pingpong --rounds 300 --work 100 >"$tmp/early" || fail "pingpong"
sleep 4

# what happened in it is there: its chain, with names and widths, as in any trace
for try in 1 2 3 4 5 6 7 8 9 10; do
	n=$((try - 1))
	file=$tmp/trace$([ $n = 0 ] || echo ".$n").bin
	# The first run is for the rules of its code: see record in lib.sh.
	timeout 300 "$load" relay --hops pipe --rounds 1 >"$tmp/told" || fail "relay"
	SETTLE_MS=200 timeout 300 "$load" relay --hops pipe --work 1500,2500,3500 --rounds $rounds >"$tmp/told" ||
		fail "relay"
	kill -USR1 $recorder
	wait_for "a trace on SIGUSR1" 20 written "$file"
	walk_to "$tmp/folded" --state=all -t "$(tid alpha)" "$file"
	grep -q ';\[unknown\] ' "$tmp/folded" || break
	echo "note: try $try: [unknown], see record_thread"
	[ $try -lt 10 ] || fail "[unknown] in each of $try tries"
done
expect_whole "$file"
expect "the trace's length, ns" 3000000000 "$(duration "$file")"
expect "the trace's mode" 600 "$(stat -c %a "$file")"
grep ';alpha_waits;.*;--;' "$tmp/folded" | skeleton '^(alpha_waits|[a-z]*_wakes_[a-z]*)$' >"$tmp/chains"
grep -q '^alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;\[running\]' \
	"$tmp/chains" || fail "no chain with its functions
$(cat "$tmp/chains")"
by_threads <"$tmp/folded" >"$tmp/chains"
chain='alpha'
for waker in bravo charlie delta; do
	chain="$chain;--;$waker"
	expect_work "$waker" "$waker" "$(weight "$chain;[running]" "$tmp/chains")" "$tmp/chains"
done
expect_waits "all of alpha's waits" alpha "$(weight_of '^alpha;--;bravo;' "$tmp/chains")" $rounds "$file"

# what happened before is not, in the first one already
"$walk" -q --format=events "$tmp/trace.bin" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk --format=events" 0 $?
[ "$(wc -l <"$tmp/events")" -gt 10 ] || fail "nothing in the first trace"
early=$(awk '$2 == "ping" { print $3 }' "$tmp/early")
expect "events of before the window" "" "$(grep -w "ping/$early" "$tmp/events")"

# the next ones have names of their own, and the recording goes on
sleep 1
kill -USR1 $recorder
wait_for "another trace on SIGUSR1" 20 written "$tmp/trace.$try.bin"
expect_whole "$tmp/trace.$try.bin"
timeout 300 "$load" pingpong --rounds 300 --work 100 >"$tmp/told" || fail "pingpong"
end_recording
last=$tmp/trace.$((try + 1)).bin
written "$last" || fail "no trace at the end"
expect_whole "$last"
expect_at_most "the last trace's length, ns" 3000000000 "$(duration "$last")"
"$walk" -q -t "$(tid ping)" "$last" >"$tmp/folded" 2>"$tmp/err"
grep -q '^ping;.*;ping_waits;' "$tmp/folded" || fail "what happened last is not in the last trace"
expect "traces" $((try + 2)) "$(find "$tmp" -name 'trace*.bin' | wc -l)"
