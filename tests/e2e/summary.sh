#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The summary on standard error says what the format has computed: totals with formats that add all waits up, and
# the same ones with each; no totals with the others.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data
for trace in relay.bin disk_syncs.bin joined_deadlock.bin; do
	for format in folded csv pprof speedscope html threads hist wakers tree json perfetto; do
		timeout 60 "$walk" --format=$format -o "$tmp/out" "$data/$trace" 2>"$tmp/err.$format"
		expect_exit "chainwalk --format=$format $trace" 0 $?
		case $format in
		folded) waits=$(sed -n 's/^\([0-9]*\) waits: .*/\1/p' "$tmp/err.folded") ;;
		csv) expect "$trace: waits in the summary, rows of csv" "$waits" "$(($(wc -l <"$tmp/out") - 1))" ;;
		esac
		case $format in
		folded | csv | pprof | speedscope | html) cat "$tmp/err.folded" ;;
		*) grep -v -e ' waits: blocked ' -e '^chains end in ' "$tmp/err.folded" ;;
		esac >"$tmp/expected"
		expect "$trace: summary of --format=$format" "$(cat "$tmp/expected")" "$(cat "$tmp/err.$format")"
	done
done
