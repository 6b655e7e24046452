#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Beside a pair of threads that wake each other all the time, events are recorded up to the last 2 ms. The host may
# take the CPU just before the end, but not each time.
. "$(dirname "$0")/../e2e/lib.sh"
needs_bpf
busy 20
started="$started $!"
sleep 0.3
gap_least=''
for _ in 1 2 3; do
	"$cap" -o "$tmp/trace" 0.3 2>"$tmp/err"
	expect_exit "chaincap 0.3" 0 $?
	last=$("$walk" -q --format=events "$tmp/trace" | awk '/\[000\] (switch|waking) / { time = $1 }
		END { sub(/[.]/, "", time); sub(/^0*/, "", time); print time }')
	gap=$(($(duration "$tmp/trace") - last))
	[ "$gap_least" ] && [ "$gap_least" -le $gap ] || gap_least=$gap
done
echo "note: $((gap_least / 1000)) us"
expect_at_most "from the last event to the end, ns, at the least" 2000000 "$gap_least"
