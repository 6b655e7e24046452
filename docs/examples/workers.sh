#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A page that takes a millisecond now and then takes half a second.
. "$(dirname "$0")/lib.sh"
needs gzip gzip
compile workers

# slowest FILE: of alice's pages, in ms.
slowest() {
	awk '$1 == "alice" { print $(NF - 1) }' "$1"
}

title "The symptom"
record workers 3 >symptom.txt
cat symptom.txt

title "Off-CPU, off-wake, chain: the same wait"
show chainwalk -f tree -c '^alice$' --top 1 --depth 0 trace.bin
show chainwalk -f tree -c '^alice$' --top 1 --depth 1 trace.bin
show chainwalk -f tree -c '^alice$' --top 1 trace.bin
pictures "alice waits for her page" 3 -c '^alice$' --within await_answer --blocked-stacks
claim "of alice's waits, for answers of her worker" 80 "$(share ';answer;work;start_thread;[^-]*worker-0;' off-wake.folded)"
grep ';worker-0;-;' chain.folded >asleep.folded
claim "of the time for which her worker slept meanwhile, for gzip" 80 "$(share ';write_report;.*;gzip;\[' asleep.folded)"
chainwalk -q -c '^alice$' trace.bin | grep ';gzip;\[running\];' >ran.folded
awk '{ weight = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); sum[$0] += weight } END { for (f in sum) printf "%s %.0f\n", f, sum[f] }' \
	ran.folded | sort -k 2 -n -r >functions.txt
claim "of what gzip ran for alice, in the function that ran most" 20 "$(share "^$(sed -n '1s/ .*//p' functions.txt | sed 's/[][+.]/./g') " functions.txt)"

title "The cure"
workers --reports-apart 3 >cure.txt || fail "workers --reports-apart"
printf '\n$ workers --reports-apart 3\n'
cat cure.txt
cured "ms for alice's slowest page" "$(slowest symptom.txt)" "$(slowest cure.txt)" 2
