#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# JavaScript functions of Node.js, which was given no option, in the stacks of threads that say themselves where they are:
# none is wrong, whether the trace is written at once or by the flight recorder; and none is missing but those that are
# compiled into their callers.
# Beside another: it judges the stacks of its own process.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in node python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
# shellcheck source=tests/stacks/recorded.sh
. "$(dirname "$0")/../stacks/recorded.sh"
record_paths node paths.js
! grep -q "node/$pid.*have no names" "$tmp/err" || fail "$(cat "$tmp/err")"
record_paths node paths.js --no-turbo-inlining
