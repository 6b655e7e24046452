#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file system that answers everyone but the recorder, as a dead server or one of a hostile user
# does, costs the names of the programs on it: no event is lost, and the recording ends in time. One
# program runs from there at the beginning, others start later.
. "$(dirname "$0")/lib.sh"
needs_bpf
serve_deaf chaincap
"$tmp/dead/program" relay --work 50 --rounds 1000000 --seconds 600 --hops pipe >/dev/null 2>&1 &
early=$!
started="$started $early"
busy 600
busy=$!
started="$started $busy"

# Programs that start while recording, each with a mapping to be looked at.
(
	sleep 1.5
	for _ in 1 2 3 4 5; do
		"$tmp/dead/program" pingpong --hops pipe --rounds 50 >/dev/null
		sleep 0.2
	done
) &
started="$started $!"
before=$(date +%s%N)
timeout 300 "$cap" -v -o "$tmp/trace" 4 2>"$tmp/err"
expect_exit "chaincap beside a file system that hangs" 0 $?
took=$((($(date +%s%N) - before) / 1000000))
grep -q silent "$tmp/server" || fail "the recorder has asked the file system for nothing: no test"
read_info "$tmp/trace"
echo "note: $events events, $lost lost; the recorder took $took ms for 4 s"
expect "events lost" 0 "$lost"
expect_at_most "ms from begin to end" 20000 $took "$tmp/err"
# The recorder's look at other programs has not suffered.
"$walk" -q "$tmp/trace" >"$tmp/folded"
grep -q '^p[io]ng;.*;pong_runs;' "$tmp/folded" || fail "a program elsewhere has no names:
$(grep '^p[io]ng;' "$tmp/folded" | head -3)"
# Now the recorder's look at the file system ends, too, which had kept it busy.
kill $server $early $busy
wait_for "umount" 10 unmounts
mounted=''
