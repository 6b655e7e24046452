#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread whose read a supervisor of seccomp has to allow does not wait for the pipe that it is about to read.
# Beside another: it judges what its own thread waits for.
. "$(dirname "$0")/lib.sh"
needs_more "what threads wait for"
build_slow asks
timeout 300 "$cap" -q -o "$tmp/trace" -- "$tmp/asks" 100 >"$tmp/told" 2>"$tmp/err"
rc=$?
[ $rc != 77 ] || skip "this kernel has no user notifications of seccomp"
expect_exit "chaincap -- asks" 0 $rc
walk_to "$tmp/folded" -c asker "$tmp/trace"
asked=$(awk '/;seccomp_do_user_notification/ { n += $NF } END { printf "%.0f\n", n }' "$tmp/folded")
expect_about "ns for the supervisor, 3 times 100 ms" 300000000 "$asked" "$tmp/folded"
expect "waits for the pipe" "" "$(grep ';\[pipe\]' "$tmp/folded")"
