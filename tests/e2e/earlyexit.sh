#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A waker that is gone long before the recording ends keeps its name and the names of its functions.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- sh -c '"$0" earlyexit >/dev/null; SETTLE_MS=200 "$0" earlyexit --work 3000 >"$1"; sleep 1' \
	"$load" "$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- chainload earlyexit, then a second of nothing" 0 $?
walk_to "$tmp/folded" -t "$(tid patient)" "$tmp/trace"
grep ';patient_waits;.*;--;' "$tmp/folded" |
	skeleton '^(patient_waits|early_wakes_patient|early_runs)$' >"$tmp/chains"
grep -q '^patient;patient_waits;--;early_wakes_patient;early_runs;early;' "$tmp/chains" || fail "no chain with its functions
$(cat "$tmp/folded")"
by_threads <"$tmp/folded" >"$tmp/chains"
link='patient;--;early'
expect_about "work of the process that is gone" 3000000 "$(weight "$link;[running]" "$tmp/chains")" \
	"$tmp/folded"
expect_at_least "its sleep" 20000000 "$(weight "$link;--;[timer]" "$tmp/chains")" "$tmp/folded"
