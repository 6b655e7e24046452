#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Several traces in one result: lines add up, --root says of which trace they are, tables stand one
# below the other, and what can show one trace only refuses two.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
relay=$data/relay.bin convoy=$data/convoy.bin

walk_to "$tmp/relay" -q "$relay"
walk_to "$tmp/convoy" -q "$convoy"
add_up() {
	awk '{ weight = $NF; sub(/ [^ ]*$/, ""); sum[$0] += weight }
		END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' "$@" | sort
}

# Lines of the same chain are one line.
walk_to "$tmp/both" -q "$relay" "$convoy"
expect "relay and convoy" "$(add_up "$tmp/relay" "$tmp/convoy")" "$(sort "$tmp/both")"
walk_to "$tmp/twice" -q "$relay" "$relay"
expect "relay twice" "$(add_up "$tmp/relay" "$tmp/relay")" "$(sort "$tmp/twice")"
expect "the order" "$(sort "$tmp/twice")" "$(cat "$tmp/twice")"

# Rounding is done once, over all of them.
"$walk" -q "$relay" "$relay" >"$tmp/us" 2>&1
expect "microseconds" "$(awk '{ sum += $NF } END { printf "%.0f\n", sum / 1000 }' "$tmp/twice")" \
	"$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/us")"
walk_to "$tmp/top" -q --top 3 "$relay" "$convoy"
expect "the three widest" "$(awk '{ print $NF }' "$tmp/both" | sort -rn | head -3)" \
	"$(grep -v '^\[other\] ' "$tmp/top" | awk '{ print $NF }' | sort -rn)"
expect "all lines, and the three widest with the rest" "$(weight_of . "$tmp/both")" "$(weight_of . "$tmp/top")"

# The first frame: the path as it was given, or the host that the trace names.
walk_to "$tmp/rooted" -q --root trace "$relay" "$convoy"
expect "--root trace" "$(sed "s|^|$relay;|" "$tmp/relay"; sed "s|^|$convoy;|" "$tmp/convoy")" \
	"$(grep -F "$relay;" "$tmp/rooted"; grep -F "$convoy;" "$tmp/rooted")"
expect "--root trace: lines" "$(cat "$tmp/relay" "$tmp/convoy" | wc -l)" "$(wc -l <"$tmp/rooted")"
host=$("$walk" -q --format=info "$relay" | sed -n 's/^host: //p')
walk_to "$tmp/hosts" -q --root host "$relay"
expect "--root host" "$(sed "s|^|$host;|" "$tmp/relay")" "$(cat "$tmp/hosts")"
walk_to "$tmp/wakeups" -q --root host --view wakeup "$relay" "$convoy"
expect "--view wakeup: lines below another root" "" "$(grep -v "^$host;" "$tmp/wakeups")"

# Tables below a heading each, as head(1) has them; objects say their trace.
for format in threads hist wakers events info tree; do
	"$walk" -q --format=$format "$relay" "$convoy" >"$tmp/out" 2>"$tmp/err"
	expect_exit "--format=$format of two traces" 0 $?
	{
		printf '==> %s <==\n' "$relay"
		"$walk" -q --format=$format "$relay"
		printf '\n==> %s <==\n' "$convoy"
		"$walk" -q --format=$format "$convoy"
	} >"$tmp/expected"
	cmp "$tmp/expected" "$tmp/out" || fail "--format=$format of two traces"
done
"$walk" -q --format=json --root host "$relay" "$convoy" >"$tmp/out" 2>"$tmp/err"
expect_exit "--format=json of two traces" 0 $?
expect "objects without their host" "" "$(grep -v "^{\"host\":\"$host\",\"tid\":" "$tmp/out")"
expect "objects" "$("$walk" -q --format=json "$relay"; "$walk" -q --format=json "$convoy")" \
	"$(sed "s/^{\"host\":\"$host\",/{/" "$tmp/out")"

# One clear line where two make no sense.
for options in '--format=pprof' '--format=threads --root host'; do
	# shellcheck disable=SC2086 # words
	"$walk" $options "$relay" "$convoy" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$options" 2 $?
	expect_one_line "$options"
done
"$walk" - - </dev/null >"$tmp/out" 2>"$tmp/err"
expect_exit "standard input twice" 2 $?
expect_one_line "standard input twice"

# A trace that is not there: no result of the others.
"$walk" -q -o "$tmp/result" "$relay" "$tmp/missing" >"$tmp/out" 2>"$tmp/err"
expect_exit "a missing trace" 1 $?
expect_one_line "a missing trace"
[ ! -s "$tmp/result" ] || fail "half a result"
# The output is none of the traces.
cp "$convoy" "$tmp/convoy.bin"
"$walk" -q -o "$tmp/convoy.bin" "$relay" "$tmp/convoy.bin" >"$tmp/out" 2>"$tmp/err"
expect_exit "output over the second trace" 1 $?
cmp "$convoy" "$tmp/convoy.bin" || fail "the second trace was written over"
# One that is damaged: the others are read, the exit status says it.
head -c 3000 "$convoy" >"$tmp/cut.bin"
"$walk" -q "$relay" "$tmp/cut.bin" >"$tmp/out" 2>"$tmp/err"
expect_exit "a trace that was cut off" 3 $?
