#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a kernel that is too old chaincap says so in its last line, and makes no trace.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
"$cap" -o "$tmp/trace" 1 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap" 1 $?
tail -n 1 "$tmp/err" | grep -q 'Linux 6.1 or newer is needed' || fail "which kernel is needed: $(cat "$tmp/err")"
[ ! -e "$tmp/trace" ] || fail "there is a trace"
echo "note: $(tail -n 1 "$tmp/err")"
