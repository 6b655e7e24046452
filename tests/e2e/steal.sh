#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a hypervisor took from a virtual machine's CPUs: between two marks the trace has of each CPU, to the
# nanosecond, what its counter in the kernel grew by, as a program that reads nothing else saw it; and that
# counter is the one of /proc/stat.
# Beside another: it compares counters, whoever has the CPUs.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(awk '$1 == "cpu" { print $9 }' /proc/stat)" -gt 0 ] || skip "no hypervisor has ever taken anything here"

# Every CPU is busy, and switches often.
cpus=$(grep -c '^cpu[0-9]' /proc/stat)
i=0
while [ $i -lt "$cpus" ]; do
	"$load" relay --hops pipe --seconds 600 --rounds 100000000 --work 1000 >"$tmp/told.$i" 2>&1 &
	started="$started $!"
	i=$((i + 1))
done
# of_each_cpu: the number and the hundredths of a second since boot
of_each_cpu() {
	awk '$1 ~ /^cpu[0-9]/ { print substr($1, 4), $9 }' /proc/stat
}
of_each_cpu >"$tmp/before"
begin_counting steal --buffer-size 64M
# grown: what the counters grew by from the first mark of each CPU to the last one, ns
grown() {
	awk '$1 == "mark" { if (!($2 in first)) first[$2] = $5; last[$2] = $5 }
		END { for (cpu in first) sum += last[cpu] - first[cpu]; printf "%.0f\n", sum }' "$tmp/steal.counted"
}
marks() {
	grep -c '^mark ' "$tmp/steal.counted"
}
has_more_marks() {
	[ "$(marks)" -gt "$1" ]
}
# Until 5 ms were taken, or for 10 s.
for _ in 1 2 3 4 5 6 7 8 9 10 11; do
	sleep 1
	before=$(marks)
	echo mark >&3
	wait_for "the next marks" 10 has_more_marks "$before"
	[ "$(grown)" -lt 5000000 ] || break
done
sleep 0.5
of_each_cpu >"$tmp/after"
end_counting

read_info "$tmp/steal.trace"
expect "events lost" 0 "$lost"
grep -q '^more_accounted: yes$' "$tmp/info" || fail "the events do not add up: $(cat "$tmp/info")"
ours=$(sed -n 's/^hypervisor_took_ns: //p' "$tmp/info")
"$walk" -q --all -f events "$tmp/steal.trace" >"$tmp/events"
expect "the events' sum" "${ours:-0}" "$(awk '$3 == "steal" { sum += $5 } END { printf "%.0f\n", sum }' "$tmp/events")"

# Between each mark of a CPU and the next one.
awk '
	NR == FNR { if ($1 == "mark") { counted[$3] = $5; cpus[$2] } next }
	{ cpu = substr($2, 2) + 0 }
	$3 == "steal" { told[cpu] += $5; next }
	$3 == "rename" && $NF in counted {
		marks++
		if (cpu in last && told[cpu] - told_at[cpu] != counted[$NF] - last[cpu]) {
			printf "%s: told %.0f ns since the mark before, the kernel counted %.0f\n", $NF,
				told[cpu] - told_at[cpu], counted[$NF] - last[cpu]
			bad++
		}
		last[cpu] = counted[$NF]
		told_at[cpu] = told[cpu]
	}
	END {
		for (mark in counted) all++
		printf "%.0f of %.0f marks compared\n", marks, all
		exit bad || marks != all
	}' "$tmp/steal.counted" "$tmp/events" >"$tmp/compared" || fail "not what the kernel counted
$(cat "$tmp/compared")"
awk '
	FILENAME ~ /before$/ { before[$1] = $2; next }
	FILENAME ~ /after$/ { after[$1] = $2; next }
	$1 == "mark" && ($5 < before[$2] * 10000000 || $5 >= (after[$2] + 1) * 10000000) {
		printf "%s: %.0f ns, /proc/stat %.0f to %.0f\n", $3, $5, before[$2], after[$2]
		bad++
	}
	END { exit bad }' "$tmp/before" "$tmp/after" "$tmp/steal.counted" >"$tmp/compared.stat" || fail "not the counter of /proc/stat
$(cat "$tmp/compared.stat")"
took=$(grown)
echo "note: $took ns between the marks, $(cat "$tmp/compared")"
[ "$took" -gt 0 ] || skip "judged nothing: the kernel counted nothing that a hypervisor took, for 10 s"

"$walk" -q --all -f threads --unit ns "$tmp/steal.trace" >"$tmp/threads"
head -n 1 "$tmp/threads" | grep -q ' STEAL' || fail "no column:
$(cat "$tmp/threads")"
# No thread lost more than the CPUs did.
awk 'NR == 1 { end = index($0, "STEAL") + 4 }
	/all of them/ { line = substr($0, 1, end); sub(/.* /, "", line); print line }' "$tmp/threads" >"$tmp/sum"
expect_at_most "ns of threads" "$ours" "$(cat "$tmp/sum")" "$tmp/threads"
# The summary says it from a thousandth of the CPUs' time on.
"$walk" --all -f threads "$tmp/steal.trace" 2>"$tmp/summary" >/dev/null
says=$(grep -c "^the hypervisor took [0-9.]* s of the CPUs' time, [0-9.]* %\$" "$tmp/summary")
expect "a line of the summary" "$(awk -v ours="$ours" -v ns="$(duration "$tmp/steal.trace")" -v cpus="$cpus" \
	'BEGIN { printf "%.0f\n", (ours > 0 && ours * 1000 >= ns * cpus) }')" "$says"
