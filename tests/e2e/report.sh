#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=html: takes the options that choose waits and chains, refuses the others before anything is
# written, gives the same bytes each time, stays bounded, and refers to nothing outside itself.
# What the page shows and how it filters is tested in a browser (tests/browser/report.test.mjs).
. "$(dirname "$0")/lib.sh"
trace=$(dirname "$0")/../data/relay.bin

report() {
	timeout 300 "$walk" -q --format=html -o "$tmp/out" "$@" >"$tmp/said" 2>"$tmp/err"
}
for option in --pid=26049 --tid=26050 '--comm=a.*' --within=futex --without=futex --from=0.01 --to=0.05 --min-wait=1ms \
	--max-wait=1s --state=all --state=D --no-kthreads --no-idle -K -U --depth=1 --mode=classic --blocked-stacks \
	--annotate --no-ends --no-delim --top=3 --requests --slowest=1%; do
	report "$option" "$trace"
	expect_exit "chainwalk --format=html $option" 0 $?
	tail -n 1 "$tmp/out" | grep -q '^</html>$' || fail "chainwalk --format=html $option: no whole page"
	[ ! -s "$tmp/said" ] && [ ! -s "$tmp/err" ] || fail "chainwalk --format=html $option says: $(cat "$tmp/said" "$tmp/err")"
	rm "$tmp/out"
done
report --state=preempted,S "$trace"
grep -q '<code>--state blocked,runnable,preempted,S</code>' "$tmp/out" ||
	fail "which states are shown: $(grep -o '<code>--state.*</code>' "$tmp/out")"
rm "$tmp/out"
for option in --unit=ns --view=wakeup --by-name --root=host; do
	report "$option" "$trace"
	expect_exit "chainwalk --format=html $option" 2 $?
	[ ! -e "$tmp/out" ] || fail "--format=html $option was refused and left a file"
done
report "$trace" "$trace"
expect_exit "chainwalk --format=html of two traces" 2 $?
timeout 300 "$walk" -q --format=html "$trace" >/dev/full 2>"$tmp/err"
expect_exit "chainwalk --format=html >/dev/full" 1 $?
timeout 300 "$walk" -q --format=html "$trace" 2>"$tmp/err" | head -c 1 >/dev/null
expect "chainwalk --format=html | head -c 1" "" "$(cat "$tmp/err")"

report "$trace"
mv "$tmp/out" "$tmp/one"
report "$trace"
cmp -s "$tmp/one" "$tmp/out" || fail "two runs differ"
# The graph is the one that the renderer makes of the folded lines, but for how it begins, and for slices of time.
"$walk" "$trace" 2>/dev/null | "$flame" --embedded --title "Wakeup chains" --max-frames 20000 >"$tmp/graph.svg" 2>"$tmp/err" ||
	fail "flamegraph --embedded: $(cat "$tmp/err")"
awk '/<svg class="flamegraph"/ { on = 1 } on && !/^<metadata id="fg-slices">/ { sub(/ data-fold="1"/, ""); sub(/ data-slices="[0-9]+" data-slice-factor="[0-9.]+"/, ""); print } /^<\/svg>/ { on = 0 }' "$tmp/one" >"$tmp/got.svg"
cmp -s "$tmp/graph.svg" "$tmp/got.svg" || fail "the graph is not the renderer's: $(diff "$tmp/graph.svg" "$tmp/got.svg" | head -5)"
# Addresses in it are names of XML, not places to go to; nothing is loaded.
if grep -oE '(src|href|action|data)=["'\''][^#"'\'']*' "$tmp/one" | grep -v '=.$' | grep -q .; then
	fail "it refers to $(grep -oE '(src|href|action|data)=["'\''][^#"'\'']*' "$tmp/one" | head -3)"
fi

# A cut-off trace: read up to there, exit 3, and the page says so.
head -c 9000 "$trace" >"$tmp/cut.bin"
report "$tmp/cut.bin"
expect_exit "of a cut-off trace" 3 $?
grep -q 'the trace is damaged' "$tmp/out" || fail "the page does not say that the trace is damaged"

# Half a million events, a thousand threads: the page is bounded, and says what it leaves out.
[ -x "$build/bench/generate" ] || skip "no $build/bench/generate (make unit)"
"$build/bench/generate" --events 500000 --idle 1000 --cpus 8 "$tmp/large.bin" >"$tmp/said" 2>"$tmp/err" || fail "generate: $(cat "$tmp/err")"
report "$tmp/large.bin"
expect_exit "of half a million events" 0 $?
expect_at_most "bytes of the page" 5000000 "$(wc -c <"$tmp/out")"
grep -q '200 of [0-9]* threads, those that ran most' "$tmp/out" || fail "the page does not say which threads it shows"
echo "note: $(wc -c <"$tmp/out") bytes of 500000 events"
