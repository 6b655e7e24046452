#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that takes another name is shown under the name that it had when it woke.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" patient rename --work 3000,5000
grep ';patient_waits;.*;--;' "$tmp/folded" |
	skeleton '^(patient_waits|(larva|moth)_wakes_patient)$' >"$tmp/chains"
for name in larva moth; do
	grep -q "^patient;patient_waits;--;${name}_wakes_patient;$name;" "$tmp/chains" ||
		fail "$name: no chain with its functions
$(cat "$tmp/chains")"
done
by_threads <"$tmp/folded" >"$tmp/chains"
expect_about "work as larva" 3000000 "$(weight 'patient;--;larva;[running]' "$tmp/chains")" "$tmp/folded"
expect_about "work as moth" 5000000 "$(weight 'patient;--;moth;[running]' "$tmp/chains")" "$tmp/folded"
