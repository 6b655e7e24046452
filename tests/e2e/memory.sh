#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder and its processes together take no more than --memory, whatever programs are recorded: here four
# with symbol tables of 400 MiB, which take none on the disk. That costs the names of these, which is said at the
# end and in the trace; other programs' functions have their names.
# Beside another: it looks at the memory of its own recorder.
. "$(dirname "$0")/lib.sh"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
is_sanitized && skip "nothing bounds memory in builds with sanitizers"

# watch: in $tmp/kib how many KiB the recorder and all processes below it have, again and again
watch() {
	while :; do
		kib_below "$recorder"
		sleep 0.02
	done >"$tmp/kib"
}

for i in 1 2 3 4; do
	cp "$load" "$tmp/evil$i"
	"$build/sparse_symbols" "$tmp/evil$i" 400 || fail "no program with large symbol tables"
done
expect_at_most "KiB on the disk of a program with large symbol tables" 8192 "$(du -k "$tmp/evil1" | cut -f 1)"
begin_recording "$tmp/trace" --memory=160M
watch &
watcher=$!
started="$started $watcher"
for i in 1 2 3 4; do
	"$tmp/evil$i" relay --rounds 20 --hops pipe >/dev/null || fail "the program does not run"
done
rm "$tmp/evil1" "$tmp/evil2" # the names of these are looked up now, if there is time; those of the others at the end
"$load" relay --rounds 20 --hops pipe >/dev/null
kill -INT "$recorder"
wait "$recorder"
status=$?
kill $watcher
most=$(sort -n "$tmp/kib" | tail -n 1)
cp "$tmp/err.cap" "$tmp/err"
expect_exit "chaincap --memory=160M" 0 $status
echo "note: $((most / 1024)) MiB at most"
expect_at_most "MiB of the recorder and its processes" 160 $((most / 1024)) "$tmp/err"
grep -q '^chaincap: no memory for [1-9][0-9]* readers of symbols' "$tmp/err" ||
	fail "nothing was given up: $(cat "$tmp/err")"
walk_to "$tmp/folded" -c alpha "$tmp/trace"
grep -q 'no memory for .* readers of symbols' "$tmp/err" || fail "chainwalk does not say what was given up:
$(cat "$tmp/err")"
grep -q '^alpha;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "the other program has no names:
$(head -n 5 "$tmp/folded")"
