#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ruby methods and blocks in the stacks of threads that say themselves where they are, in fibers as well: none is wrong,
# whether the trace is written at once or by the flight recorder.
# Beside another: it judges the stacks of its own process.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in ruby python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
stacks=$(dirname "$0")/../stacks

# expect_right WHAT TRACE
expect_right() {
	# Before it is listed, a moment after the beginning, a thread may have had another name.
	walk_to "$tmp/folded" -p "$pid" --from 0.3 -U -d 0 --no-ends "$2"
	python3 "$stacks/paths_judge.py" "$stacks/paths.rb" "$tmp/folded" >"$tmp/judged" || fail "$1
$(tail -n 5 "$tmp/judged" | cut -c 1-1500)"
	echo "note: $1: $(tail -n 1 "$tmp/judged")"
}

ruby "$stacks/paths.rb" $$ &
pid=$!
started="$started $pid"
begin_recording "$tmp/trace"
first=$recorder
fly "$tmp/flight" --flight=60s
sleep 3
kill "$pid"
wait "$pid"
end_recording
expect_right "the flight recorder's trace" "$tmp/flight"
recorder=$first
end_recording
expect_right "the trace" "$tmp/trace"
