#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The laws of chain-semantics on a recorded trace of the whole machine: a smaller depth is the merging of
# a greater one, folded lines add up to the off-CPU times per thread, and the output is repeatable.
# Beside another: sums of one trace are compared, whatever is in it.
. "$(dirname "$0")/lib.sh"
needs_bpf
timeout 300 "$cap" -o "$tmp/trace" -- sh -c '"$0" convoy & "$0" pingpong --hops tcp --work 200 & "$0" relay; wait' \
	"$load" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap of three scenarios at once" 0 $?
walk_to "$tmp/6" "$tmp/trace"
walk_to "$tmp/again" "$tmp/trace"
cmp "$tmp/6" "$tmp/again" || fail "the same trace and options, another output"

for depth in 5 4 3 2 1 0; do
	awk -v depth=$depth '
	{
		weight = $NF
		sub(/ [^ ]*$/, "")
		count = split($0, part, ";--;")
		line = part[1]
		for (i = 2; i <= count && i <= depth + 1; i++)
			line = line ";--;" part[i]
		sum[count > depth + 1 ? line ";[depth limit]" : line] += weight
	}
	END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' "$tmp/6" | sort >"$tmp/merged"
	# what --depth 6 cut off itself stays cut off
	walk_to "$tmp/$depth" --depth $depth "$tmp/trace"
	sort "$tmp/$depth" >"$tmp/walked"
	diff "$tmp/merged" "$tmp/walked" >"$tmp/diff" || fail "--depth $depth is not the merging of --depth 6 (<: merged)
$(head -6 "$tmp/diff")"
done

walk_to "$tmp/folded" --state=blocked,runnable,preempted --not-woken "$tmp/trace"
walk_to "$tmp/all" --state=all --not-woken "$tmp/trace"
timeout 300 "$walk" --format=threads --unit=ns "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk --format=threads --unit=ns" 0 $?
# Names may have spaces, and who had the CPU meanwhile stands behind: the nine numbers in a row count.
awk '
	NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i - 4; next }
	$1 ~ /^[0-9]+$/ {
		from = 4
		for (i = 4; i < from + 9 && i <= NF; i++) if ($i !~ /^[0-9]+$/) from = i + 1
		off += $(from + place["BLOCKED"]) + $(from + place["RUNNABLE"]) + $(from + place["PREEMPTED"])
		whole = 0
		for (i = place["RUNNING"]; i <= place["UNKNOWN"]; i++) whole += $(from + i)
		if (whole != $(from + place["LIFETIME"])) print "not its lifetime: " $0
		if ($3 !~ /^chaincap/) life += $(from + place["LIFETIME"])
	}
	END { printf "%.0f\n", life >lives; printf "%.0f\n", off }' lives="$tmp/lives" "$tmp/threads" >"$tmp/off"
expect "off-CPU time of all threads, and threads whose parts are not their lifetime" \
	"$(weight_of . "$tmp/folded")" "$(cat "$tmp/off")"

# With samples all lines together are all lifetimes; the recorder itself is not recorded.
expect "lifetime of all threads" "$(cat "$tmp/lives")" "$(weight_of . "$tmp/all")"
