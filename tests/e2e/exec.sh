#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that becomes another program is shown as what it was at each time: its addresses mean
# something else after the exec.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" patient exec --work 3000,5000
grep ';patient_waits;.*;--;' "$tmp/folded" |
	skeleton '^(patient_waits|(before|after)_(wakes_patient|runs))$' >"$tmp/chains"
before=$(weight 'patient;patient_waits;--;before_wakes_patient;before_runs;before;[running]' "$tmp/chains")
expect_about "work before the exec" 3000000 "$before" "$tmp/folded"
# the second wait has the exec itself in it too
after=$(weight 'patient;patient_waits;--;after_wakes_patient;after_runs;after;[running]' "$tmp/chains")
expect_at_least "work after the exec" 4500000 "$after" "$tmp/folded"
expect_at_most "work after the exec, and the exec" 25000000 "$after" "$tmp/folded"
