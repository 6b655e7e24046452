#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --trigger-wait writes a trace by itself when a wait was too long, of the threads that -c names, and not
# more often than once per window.
# Beside another: its bounds are for waits of its own threads, and hold on a busy machine.
. "$(dirname "$0")/lib.sh"
needs_bpf

# one wait of 700 ms
fly "$tmp/one" --flight 5s --trigger-wait 500ms -c '^alpha$'
timeout 300 "$load" relay --hops pipe --sleep 20000 --rounds 5 >"$tmp/told" || fail "relay"
sleep 1.2
expect "traces of waits that are short enough" "" "$(find "$tmp" -name "one*" -size +0)"
timeout 300 "$load" relay --hops pipe --sleep 700000 --rounds 1 >"$tmp/told" || fail "relay"
wait_for "a trace of a wait of 700 ms" 20 written "$tmp/one"
said=$(sed -n 's|^chaincap: alpha/\([0-9]*\) waited \([0-9]*\)[.].* ms$|\1 \2|p' "$tmp/err.cap")
expect "whose wait is said" "$(tid alpha)" "${said% *}"
expect_about "how long it is said to have been, ns" 700000000 "${said#* }000000" "$tmp/err.cap"
expect_whole "$tmp/one"
walk_to "$tmp/folded" -t "$(tid alpha)" "$tmp/one"
expect_about "alpha's wait in the trace" 700000000 "$(weight_of ';alpha_waits;' "$tmp/folded")" "$tmp/folded"
# a thread of another name waits as long
timeout 300 "$load" timeout --sleep 900000 --rounds 1 >"$tmp/told" || fail "timeout"
sleep 1
end_recording
expect "traces: of the one wait, and at the end" 2 "$(find "$tmp" -name 'one*' | wc -l)"

# many long waits, one after the other, by several threads: a trace per window
fly "$tmp/many" --flight 1s --trigger-wait 100ms
began=$(date +%s)
"$load" relay --hops pipe --sleep 200000 --rounds 100000 --seconds 600 >"$tmp/told" &
started="$started $!"
wait_for "a second trace" 20 written "$tmp/many.1"
kill $!
end_recording
traces=$(find "$tmp" -name 'many*' | wc -l)
took=$(sed -n 's/.*recorder: //p' "$tmp/err.cap")
expect_at_least "traces, with the one at the end" 3 "$traces" "$tmp/err.cap"
expect_at_most "traces, with the one at the end ($took)" $(($(date +%s) - began + 2)) "$traces" "$tmp/err.cap"
for trace in "$tmp"/many*; do
	expect_whole "$trace"
done
