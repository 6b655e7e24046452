#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that becomes another program is shown as what it was at each time: its addresses mean
# something else after the exec.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" patient exec --work 3000,5000
grep ';patient_waits;.*;--;' "$tmp/folded" |
	skeleton '^(patient_waits|(before|after)_(wakes_patient|runs))$' >"$tmp/chains"
for name in before after; do
	grep -q "^patient;patient_waits;--;${name}_wakes_patient;${name}_runs;$name;" "$tmp/chains" ||
		fail "$name: no chain with its functions
$(cat "$tmp/chains")"
done
by_threads <"$tmp/folded" >"$tmp/chains"
before=$(weight 'patient;--;before;[running]' "$tmp/chains")
expect_about "work before the exec" 3000000 "$before" "$tmp/folded"
# the second wait has the exec itself in it too
after=$(weight 'patient;--;after;[running]' "$tmp/chains")
expect_at_least "work after the exec" 4500000 "$after" "$tmp/folded"
expect_at_most "work after the exec, and the exec" 25000000 "$after" "$tmp/folded"
