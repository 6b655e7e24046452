#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chainwalk --state running --depth 0 is a CPU profile: of the same run, perf record -F gives each function of
# the worker the same share, within what is left to chance by the binomial distribution. (By .eh_frame: frame
# pointers miss the caller of a leaf function that has none, as the clock of the C library is.)
# Beside another: shares of CPU time, not CPU time, are compared.
. "$(dirname "$0")/lib.sh"
needs_bpf
can_compare perf || skip "$why_not"

timeout 300 "$cap" -q -F 499 -o "$tmp/trace" -- \
	perf record -q -F 499 -e cpu-clock --call-graph dwarf,4096 -o "$tmp/perf" -- \
	"$load" shares --seconds 600 --work 7000,3000,1 --rounds 400 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- perf record -- $load shares" 0 $?
worker=$(tid worker)

# The program's functions: "SHARE FUNCTION", one counting once a stack. Of stacks that are cut (chaincap has no
# rules for the first ones, nor has a thread a user stack in its first and last system calls) the callers are
# not known: those without the thread's first function are left out, and are few.
nm --defined-only "$load" | awk '{ print $NF }' >"$tmp/names"
walk_to "$tmp/folded" --state running --depth 0 -t "$worker" "$tmp/trace"
expect "lines that are not of running time" "" "$(grep -v '^[a-z-]*;\[on-CPU\]' "$tmp/folded")"
awk '{
	weight = $NF
	sub(/ [^ ]*$/, "")
	sub(/^[^;]*;[^;]*;?/, "")
	sub(/;-;.*/, "")
	gsub(/;/, " ")
	printf "%.0f %s\n", weight, $0
}' "$tmp/folded" >"$tmp/our_stacks"
timeout 300 perf script -F tid,ip,sym -i "$tmp/perf" 2>/dev/null | awk -v tid="$worker" '
	NF == 1 && $1 ~ /^[0-9]+$/ { if (mine) print stack; mine = $1 == tid; stack = 1; next }
	{ stack = stack " " $2 }
	END { if (mine) print stack }' >"$tmp/their_stacks"

# shares STACKS SAMPLES: "WEIGHT FUNCTION..." to shares; how many of the samples count in $tmp/count.
shares() {
	awk -v names="$tmp/names" -v samples="$2" -v count="$tmp/count" '
		BEGIN { while ((getline f <names) > 0) known[f] = 1 }
		{ total += $1 }
		/ thread_main( |$)/ {
			all += $1
			split("", seen)
			for (i = 2; i <= NF; i++)
				if ($i in known && !seen[$i]++)
					sum[$i] += $1
		} END {
			printf "%.0f\n", all / total < 0.9 ? 0 : samples * all / total >count
			for (f in sum) printf "%.6f %s\n", sum[f] / all, f
		}' "$1"
}
shares "$tmp/our_stacks" "$("$walk" -q --all -f events "$tmp/trace" | grep -c " sample .*/$worker\$")" >"$tmp/ours"
ours=$(cat "$tmp/count")
shares "$tmp/their_stacks" "$(wc -l <"$tmp/their_stacks")" >"$tmp/theirs"
theirs=$(cat "$tmp/count")
expect_at_least "samples of chaincap, nine tenths of them whole" 500 "$ours"
expect_at_least "samples of perf, nine tenths of them whole" 500 "$theirs"

# The difference of two shares in units of its standard deviation; 4.5: once in 100 000 comparisons. A share
# of 0 or 1 has none, so one sample more on each side stands for what can still come.
sort -k 2 "$tmp/ours" >"$tmp/a"
sort -k 2 "$tmp/theirs" >"$tmp/b"
join -1 2 -2 2 -a 1 -a 2 -e 0 -o 0,1.1,2.1 "$tmp/a" "$tmp/b" |
	awk -v n="$ours" -v m="$theirs" '{
		p = ($2 * n + $3 * m + 1) / (n + m + 2)
		z = ($2 - $3) / sqrt(p * (1 - p) * (1 / n + 1 / m))
		printf "%s: %.3f of %.0f samples here, %.3f of %.0f in perf, %.1f standard deviations\n", $1, $2, n, $3, m, z
		if (z > 4.5 || z < -4.5)
			apart++
		if ($1 == "worker_sorts" || $1 == "worker_hashes")
			known++
	} END { exit !(known == 2 && !apart) }' >"$tmp/compared" || fail "shares differ
$(cat "$tmp/compared")"
