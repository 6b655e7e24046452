#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# PHP functions in the stacks of processes that say themselves where they are: none is wrong.
# Beside another: it judges the stacks of its own processes.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v php >/dev/null || skip "no php"
command -v python3 >/dev/null || skip "no python3"
stacks=$(dirname "$0")/../stacks
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
	# Before it is listed, a moment after the beginning, a thread may have had another name.
	walk_to "$tmp/folded" -p "$pid" --from 0.3 -U -d 0 --no-ends "$tmp/trace"
	python3 "$stacks/paths_judge.py" "$stacks/paths.php" "$tmp/folded" >"$tmp/judged" || fail "process $pid
$(tail -n 5 "$tmp/judged" | cut -c 1-1500)"
	echo "note: $(tail -n 1 "$tmp/judged")"
done
