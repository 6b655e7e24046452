#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two builds, at different places and under different circumstances, give the same bytes: here the quickest
# program and the BPF part of another; "make check-reproducible" compares all, and the packages.
. "$(dirname "$0")/lib.sh"
only_all "it builds twice"
is_sanitized && skip "what is built with sanitizers is not delivered"
BUILT=$build DEB=no PROGRAMS="flamegraph gen/chaincap.bpf.o gen/chaincap.skel.h" timeout 300 sh "$(dirname "$0")/../package/reproducible.sh" "$tmp/build" >"$tmp/out" 2>&1
status=$?
cat "$tmp/out"
expect "two builds that are the same: exit status" 0 $status
expect "files that are the same" 3 "$(grep -c '^same ' "$tmp/out")"
