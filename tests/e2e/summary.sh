#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The summary on standard error says what the format has computed: totals with formats that add all waits up, and
# the same ones with each; no totals with the others.
. "$(dirname "$0")/lib.sh"

data=$(dirname "$0")/../data
# summary TRACE OPTION...: its lines are in $tmp/err.
summary() {
	of=$data/$1
	shift
	timeout 300 "$walk" -o "$tmp/out" "$@" "$of" 2>"$tmp/err"
	expect_exit "chainwalk $* $of" 0 $?
}
# says REGEX
says() {
	grep -qE "$1" "$tmp/err" || fail "no line like: $1
$(cat "$tmp/err")"
}

# Preempted time that is not shown is that which --state shows.
for trace in rename.bin convoy.bin; do
	timeout 300 "$walk" -q --format=json --state=preempted "$data/$trace" >"$tmp/json" 2>"$tmp/err"
	hidden=$(grep -o '"preempted":[0-9]*' "$tmp/json" |
		awk -F: '{ sum += $2 } END { printf "%.3f\n", sum / 1e9 }')
	summary $trace
	says "; preempted $hidden s not shown: --state all\$"
	summary $trace --state=all
	says ", preempted $hidden s\$"
done
# Chains that end in [unknown] although nothing was lost have their reason, with the count that info has.
for trace in heir.bin relay.bin; do
	missing=$("$walk" -q --format=info "$data/$trace" | sed -n 's/^untraced_switches: //p')
	expect_at_least "$trace: switches that the kernel has not reported" 1 "$missing"
	summary $trace
	says "\[unknown\] [0-9.]* %.*; \[unknown\] as the kernel has not reported at least $missing switch"
done
summary pingpong.bin
if grep 'has not reported' "$tmp/err"; then fail "a reason without [unknown]"; fi

# Who asked for no format and gets none to read is told how to.
chosen() { "$walk" "$@" "$data/relay.bin" 2>&1 >"$tmp/out" | grep -c 'for reading: chainwalk -f causes'; }
expect "said: no format" 1 "$(chosen)"
for asked in '-f folded' -q '-f threads' --json '--no-ends' "-o $tmp/out"; do
	# shellcheck disable=SC2086 # options
	expect "said: $asked" 0 "$(chosen $asked)"
done

for trace in relay.bin disk_syncs.bin joined_deadlock.bin; do
	for format in folded csv pprof html threads hist wakers tree json perfetto; do
		timeout 300 "$walk" --format=$format -o "$tmp/out" "$data/$trace" 2>"$tmp/err.$format"
		expect_exit "chainwalk --format=$format $trace" 0 $?
		case $format in
		folded) waits=$(sed -n 's/^\([0-9]*\) waits: .*/\1/p' "$tmp/err.folded") ;;
		csv) expect "$trace: waits in the summary, rows of csv" "$waits" "$(($(wc -l <"$tmp/out") - 1))" ;;
		esac
		case $format in
		folded | csv | pprof | html) cat "$tmp/err.folded" ;;
		*) grep -v -e ' waits: blocked ' -e '^chains end in ' "$tmp/err.folded" ;;
		esac >"$tmp/expected"
		expect "$trace: summary of --format=$format" "$(cat "$tmp/expected")" "$(cat "$tmp/err.$format")"
	done
done
