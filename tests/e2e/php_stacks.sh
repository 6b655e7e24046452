#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# PHP functions in the stacks of processes that say themselves where they are: none is wrong.
# Beside another: it judges the stacks of its own processes.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v php >/dev/null || skip "no php"
command -v python3 >/dev/null || skip "no python3"
# shellcheck source=tests/stacks/recorded.sh
. "$(dirname "$0")/../stacks/recorded.sh"
pids=''
for i in 1 2 3; do
	php "$stacks/paths.php" $i &
	started="$started $!" pids="$pids $!"
done
begin_recording "$tmp/trace"
sleep 3
# shellcheck disable=SC2086 # a list
kill $pids
end_recording
for pid in $pids; do
	expect_right "process $pid" paths.php "$pid" "$tmp/trace"
done
