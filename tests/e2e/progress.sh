#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chainwalk shows a bar with percent and rate on a terminal when it takes longer than a second, takes
# it away again, and shows none with -q or where standard error is no terminal.
# Alone: it finds a trace that takes long enough by the clock.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
generate=$build/bench/generate
[ -x "$generate" ] || skip "$generate is not built"
# However fast the machine: what takes long enough is found by trying.
events=4000000
while :; do
	"$generate" --events "$events" "$tmp/trace" || fail "generate"
	begin=$(date +%s%N)
	"$walk" -q "$tmp/trace" >"$tmp/folded" || fail "chainwalk"
	[ $((($(date +%s%N) - begin) / 1000000)) -lt 1600 ] || break
	[ "$events" -lt 64000000 ] || skip "too fast to be waited for"
	events=$((events * 2))
done
script -qec "$walk -o $tmp/out $tmp/trace" /dev/null >"$tmp/terminal" </dev/null ||
	fail "chainwalk on a terminal"
cmp -s "$tmp/folded" "$tmp/out" || fail "the result depends on the terminal"
tr '\r' '\n' <"$tmp/terminal" >"$tmp/lines"
grep -qE '\[#+\.*\] +[0-9]+ %  (reading|linking|folding), [0-9.]+ million events/s' "$tmp/lines" ||
	fail "no bar on a terminal:
$(cat "$tmp/lines")"
# The last thing drawn on the bar's line is its being erased.
bars=$(grep -c 'million events/s' "$tmp/lines")
sed -n '/million events\/s/,$p' "$tmp/lines" | tail -n +$((bars + 1)) | grep -q "$(printf '\033')\[K" ||
	fail "the bar is not taken away"
script -qec "$walk -q -o $tmp/out $tmp/trace" /dev/null >"$tmp/terminal" </dev/null || fail "chainwalk -q"
expect "what chainwalk -q says on a terminal" "" "$(cat "$tmp/terminal")"
"$walk" -o "$tmp/out" "$tmp/trace" 2>"$tmp/err" || fail "chainwalk without a terminal"
grep -q '%  ' "$tmp/err" && fail "a bar where there is no terminal: $(cat "$tmp/err")"
exit 0
