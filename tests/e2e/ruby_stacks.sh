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
# shellcheck source=tests/stacks/recorded.sh
. "$(dirname "$0")/../stacks/recorded.sh"
record_paths ruby paths.rb
