#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on a workload whose answer is known: record the relay alpha <- bravo <- charlie <-
# delta <- timer, walk the chains, draw the picture. $1 is the build folder.
set -eu
O=$1
out=$O/demo
mkdir -p "$out"
rm -f "$out"/*

"$O/chainload" relay --rounds 100000 --sleep 10000 --work 2000,3000,4000 >"$out/relay.txt" &
load=$!
trap 'kill $load 2>/dev/null || true' EXIT
if "$O/chaincap" -o "$out/trace.bin" 3; then
	trace=$out/trace.bin
	tid=$(awk '$1 == "thread" && $2 == "alpha" { print $3 }' "$out/relay.txt")
	title="Wakeup chains of this machine, just now"
else
	trace=tests/data/relay.bin
	tid=$("$O/chainwalk" -q --format=threads -c '^alpha$' "$trace" | awk 'NR == 2 { print $1 }')
	title="Wakeup chains of a recorded relay"
	echo "demo: live recording is not possible here (see above): using $trace, which ships with the tests"
fi
"$O/chainwalk" --depth 6 --no-idle "$trace" | "$O/flamegraph" --title "$title" >"$out/chain.svg"
"$O/chainwalk" -q -t "$tid" "$trace" | "$O/flamegraph" --title "What alpha waited for" >"$out/alpha.svg"

echo
echo "What the waiting of the demo's threads came down to (chainwalk --format=causes -p chainload --top 2 $trace):"
echo
"$O/chainwalk" -q --format=causes -p chainload --top 2 "$trace"
echo
echo "One wait of alpha ($tid), with its chain (chainwalk --format=tree -t $tid --to 2.5 --top 1 $trace):"
echo
"$O/chainwalk" -q --format=tree -t "$tid" --to 2.5 --top 1 "$trace"
echo
here=$(cd "$out" && pwd)
echo "Pictures, for a browser:"
echo "  $here/chain.svg   the whole machine, without threads that wait for work (--no-idle)"
echo "  $here/alpha.svg   alpha only"
