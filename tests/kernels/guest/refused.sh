#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a kernel that is too old chaincap says so in one line, and makes no trace.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
"$cap" -o "$tmp/trace" 1 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap" 1 $?
expect_one_line "chaincap"
grep -q 'Linux 6.1 or newer is needed' "$tmp/err" || fail "which kernel is needed: $(cat "$tmp/err")"
echo "note: $(cat "$tmp/err")"
