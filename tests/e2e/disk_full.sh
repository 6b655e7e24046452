#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk ends the recording with the reason and exit status 1; what was written is readable.
# Beside another: what others do fills the disk, too.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkdir "$tmp/small"
mount -t tmpfs -o size=1m tmpfs "$tmp/small" || fail "no tmpfs can be mounted"
mounted=$tmp/small
busy 600
started="$started $!"
timeout 300 "$cap" -o "$tmp/small/trace" 600 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap onto a disk of 1 MiB" 1 $?
grep -q -i 'no space left' "$tmp/err" || fail "the reason is not given:
$(cat "$tmp/err")"
timeout 300 "$walk" "$tmp/small/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk of what was written" "0 3" $?
grep -q '^p[io]ng;' "$tmp/folded" || fail "nothing of the busy threads in the trace:
$(cat "$tmp/err")"
