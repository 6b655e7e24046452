#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that only computes, in a control group with a fifth of a CPU: the first screen says that it was
# throttled, and where.
. "$(dirname "$0")/lib.sh"
needs_bpf
make_quota 20000
build_slow quota
first_screen sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1"' "$group" "$tmp/quota"
# Where others want the CPU as well, they are named, and that the quota was used up is said in their row.
has 'cruncher/[0-9]+ (was throttled|had no CPU), in .*(compute|crunch).* the quota of its control group was used up'
grep -q 'cruncher/[0-9]* had no CPU, in .*the quota' "$tmp/screen" ||
	shows 'cruncher/[0-9]+ was throttled, in .*(compute|crunch).*: the quota of its control group was used up' 80
