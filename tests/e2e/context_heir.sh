#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that does not lead its process and execs gets the leader's tid: it stays one thread, the
# leader's life ends.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" patient heir --work 3000,5000
grep ';patient_waits;.*;--;' "$tmp/folded" | skeleton '^(patient_waits|(heir|after)_(wakes_patient|runs))$' >"$tmp/chains"
for name in heir after; do
	grep -q "^patient;patient_waits;--;${name}_wakes_patient;${name}_runs;$name;" "$tmp/chains" ||
		fail "$name: no chain with its functions
$(cat "$tmp/chains")"
done
by_threads <"$tmp/folded" >"$tmp/chains"
heir='patient;--;heir' after='patient;--;after'
expect_about "work before the exec" 3000000 "$(weight "$heir;[running]" "$tmp/chains")" "$tmp/chains"
expect_at_least "sleep before the exec" 20000000 "$(weight "$heir;--;[timer]" "$tmp/chains")" "$tmp/chains"
expect_at_most "sleep before the exec" 40000000 "$(weight "$heir;--;[timer]" "$tmp/chains")" "$tmp/chains"
expect_at_least "work after the exec" 4500000 "$(weight "$after;[running]" "$tmp/chains")" "$tmp/chains"
expect_at_most "work after the exec, and the exec" 25000000 "$(weight "$after;[running]" "$tmp/chains")" "$tmp/chains"
expect_at_least "sleep after the exec" 18000000 "$(weight "$after;--;[timer]" "$tmp/chains")" "$tmp/chains"

# two threads had the leader's tid: the leader until the exec, the heir after it
"$walk" -q --format=threads -t "$(tid leader)" "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk --format=threads" 0 $?
expect "threads with the leader's tid, by their last names" "after leader" \
	"$(awk -v tid="$(tid leader)" '$1 == tid { print $3 }' "$tmp/threads" | sort | xargs)"
