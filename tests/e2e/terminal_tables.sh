#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a terminal a table fits the first screen, --wide shows all of it, and COLUMNS and LINES override the terminal's
# size. Into a pipe it is whole.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
trace=$(dirname "$0")/../data/things.bin

environment='COLUMNS= LINES='

# on_terminal COLUMNS LINES OPTION...: what stands there, in $tmp/out
on_terminal() {
	tty="cols $1 rows $2"
	shift 2
	script -qec "stty $tty; env $environment $walk $* $trace" /dev/null </dev/null | tr -d '\r' >"$tmp/out"
}
# widest: of the table's lines, without the note in brackets
widest() {
	sed '/^(times/,$d' "$tmp/out" | awk '{ if (length > max) max = length } END { printf "%.0f\n", max }'
}
for format in threads objects wakers io; do
	"$walk" -q -f $format "$trace" >"$tmp/whole"
	for size in '80 24' '120 40' '60 24'; do
		# shellcheck disable=SC2086 # two numbers
		on_terminal $size -f $format
		expect_at_most "$format on $size: width" "${size% *}" "$(widest)" "$tmp/out"
		# The prompt takes one more.
		expect_at_most "$format on $size: lines" "$((${size#* } - 1))" "$(wc -l <"$tmp/out")" "$tmp/out"
	done
	on_terminal 80 24 -q -f $format --wide
	cmp "$tmp/whole" "$tmp/out" || fail "$format --wide on a terminal is not the whole table"
done
"$walk" -q -f objects "$trace" | cmp - "$tmp/whole" >/dev/null && fail "two tables are one"
# Histograms of waits of a second and more, in each unit.
long=$(dirname "$0")/../data/services/c.bin
for columns in 60 80 120 200; do
	for unit in '' '--unit us' '--unit ns'; do
		script -qec "stty cols $columns rows 24; $walk -q -f hist --not-woken $unit $long" /dev/null </dev/null |
			tr -d '\r' >"$tmp/out"
		expect_at_most "hist $unit on $columns columns: width" "$columns" "$(widest)" "$tmp/out"
		grep -q '|\*\*\*\*\*\**|' "$tmp/out" || fail "hist $unit on $columns columns: no bar is full"
	done
done
# Trees, and the story of a request, wrap their lines with the same words.
for trace in "$(dirname "$0")"/../data/services/c.bin "$(dirname "$0")"/../data/services/postgresql.bin; do
	for options in '-f tree --top 3' '-f tree --requests --top 2' '-f requests --top 2'; do
		# shellcheck disable=SC2086 # several words
		"$walk" -q $options "$trace" | tr -s ' \n' '\n' >"$tmp/words"
		for columns in 60 80 120 200; do
			# shellcheck disable=SC2086 # several words
			on_terminal $columns 24 -q $options
			[ "${options#-f tree}" = "$options" ] ||
				expect_at_most "$options on $columns columns: width" "$columns" "$(widest)" "$tmp/out"
			! grep -q "$(printf '\036')" "$tmp/out" || fail "$options: a control character"
		done
		case $options in "-f tree"*)
			tr -s ' \n' '\n' <"$tmp/out" | cmp - "$tmp/words" || fail "$options: other words on a terminal" ;;
		esac
	done
done
trace=$(dirname "$0")/../data/things.bin
environment='COLUMNS=50 LINES=12' # not of the shell, which may set them itself
on_terminal 200 60 -q -f threads
expect_at_most "COLUMNS: width" 50 "$(widest)" "$tmp/out"
expect_at_most "LINES: lines" 11 "$(wc -l <"$tmp/out")" "$tmp/out"
# shellcheck disable=SC2086 # two words
env $environment "$walk" -q -f io "$trace" | cmp - "$tmp/whole" || fail "COLUMNS changes a table in a pipe"

# As JSON any parser reads it, and its figures are those of the table, without sums.
command -v python3 >/dev/null || skip "python3 is not installed"
for format in threads objects wakers io hist; do
	"$walk" -q -f $format --json "$trace" >"$tmp/json"
	python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows
for row in rows:
	for key, value in row.items():
		assert not key.endswith("_ns") or value is None or type(value) is int, (key, value)
print(sum(row.get("waits", row.get("count", 0)) for row in rows))' "$tmp/json" >"$tmp/sum" 2>"$tmp/err" ||
		fail "$format --json: $(cat "$tmp/err")"
	case $format in objects | wakers)
		expect "$format --json: waits" "$("$walk" -q -f $format "$trace" | awk '/^all of them/ { print $4 }')" "$(cat "$tmp/sum")" ;;
	esac
done
"$walk" -q -f objects --json "$trace" "$(dirname "$trace")/shares.bin" >"$tmp/json"
expect "traces in JSON of two" 2 "$(sed 's/^{"trace":"\([^"]*\)".*/\1/' "$tmp/json" | sort -u | wc -l | tr -d ' ')"
! grep '==>' "$tmp/json" || fail "JSON has headings"
