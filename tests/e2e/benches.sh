#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every bench that the documents name still runs and prints figures, with its smallest sizes: "make bench-smoke".
. "$(dirname "$0")/lib.sh"
only_all "every bench, one after the other"
needs_usual "benches compare with other recorders"
can_compare perf || skip "$why_not"
is_sanitized && skip "benches are of what is built for speed"
bash "$(dirname "$0")/../../bench/smoke.sh" "$build" >"$tmp/benches" 2>"$tmp/err" || fail "$(cat "$tmp/benches" "$tmp/err")"
grep 'left out' "$tmp/benches" # of its programs some are not installed
expect_at_least "benches that print figures" 12 "$(grep -c 'lines with figures' "$tmp/benches")"
