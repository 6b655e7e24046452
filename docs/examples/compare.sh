#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One run of the workload "workers" (see workers.sh), watched by all tools at once that are here: prints
# what docs/comparison.md shows of them. What is not here is named and left out.
. "$(dirname "$0")/lib.sh"
compile workers
needs pgrep procps
have() {
	command -v "$1" >/dev/null && return
	echo "not here, left out: $1 (Debian, Ubuntu: $2)"
	return 1
}

chaincap -q -o trace.bin --max-size 256M 2>"$tmp/err" &
recorder=$!
started=$recorder
for try in $(seq 300); do # until it records
	[ ! -s trace.bin ] || break
	[ "$try" -lt 300 ] || fail "chaincap does not begin: $(cat "$tmp/err")"
	sleep 0.1
done
timeout 60 workers 4 >symptom.txt &
load=$!
started="$recorder $load"
sleep 0.5
pid=$(pgrep -P "$load" -x workers) || fail "the workload is not there"
watchers=''
# in_background OUTPUT COMMAND...
in_background() {
	file=$1
	shift
	timeout 60 "$@" >"$file" 2>"$file.err" &
	watchers="$watchers $!"
	started="$started $!"
}
have offcputime libbpf-tools && in_background offcputime.txt offcputime -p "$pid" 3
have wakeuptime libbpf-tools && in_background wakeuptime.txt wakeuptime -p "$pid" 3
have offwaketime-bpfcc bpfcc-tools && in_background offwaketime.txt offwaketime-bpfcc -f -p "$pid" 3
have perf linux-perf && in_background perf.txt perf sched record -g -o sched.data sleep 3
wait "$load"
kill "$recorder" # which ends the recording, and writes all of it
for pid in $recorder $watchers; do
	wait "$pid" || true # what a tool has to say stands in its .err
done
cat symptom.txt

# paragraphs REGEX FILE: that match.
paragraphs() {
	awk -v regex="$1" 'BEGIN { RS = "" } $0 ~ regex { print $0 "\n" }' "$2"
}
# longest N REGEX FILE: the N of them with the largest number at the end.
longest() {
	paragraphs "$2" "$3" >paragraphs.txt
	awk 'BEGIN { RS = "" } { print $NF "\t" NR }' paragraphs.txt | sort -rn | head -n "$1" | cut -f 2 |
		while read -r n; do
			awk -v n="$n" 'BEGIN { RS = "" } NR == n { print $0 "\n" }' paragraphs.txt
		done
}
if [ -s offcputime.txt ]; then
	title "offcputime: alice, longest first"
	longest 2 'alice' offcputime.txt
fi
if [ -s wakeuptime.txt ]; then
	title "wakeuptime: who woke alice, longest first"
	longest 4 'target: *alice' wakeuptime.txt
fi
if grep -q ';alice\|^alice' offwaketime.txt 2>/dev/null; then
	title "offwaketime: alice"
	grep ';alice\|^alice' offwaketime.txt | head -n 5
elif [ -s offwaketime.txt.err ]; then
	title "offwaketime does not run here"
	tail -n 1 offwaketime.txt.err
fi
if [ -s sched.data ]; then
	title "perf sched timehist: alice's longest waits"
	timeout 60 perf sched timehist -i sched.data 2>/dev/null >timehist.txt
	head -n 3 timehist.txt
	grep 'alice\[' timehist.txt | sort -k 4 -rn | head -n 3
fi
title "chainwalk: alice's longest wait"
show chainwalk -q -f tree -c '^alice$' --top 1 trace.bin
chainwalk -q -c '^alice$' --within await_answer trace.bin >chain.folded
claim "of alice's waits for answers, for gzip" 30 "$(share 'worker-0;.*;gzip;\[run' chain.folded)"
