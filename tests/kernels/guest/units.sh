#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests of what depends on the architecture, or looks at processes by what the kernel says of them. Here
# they have all that they need: none is skipped.
. "$(dirname "$0")/../../e2e/lib.sh"
for test in kernel_stack_slots kernel_forgetting kallsyms_changes unwind_sleeping_threads unwind_stacks; do
	timeout 100 "$build/tests/unit/$test" >"$tmp/out" 2>&1 || fail "$test: $(cat "$tmp/out")"
	! grep -q '^\[ *SKIPPED \]' "$tmp/out" || fail "$test: $(cat "$tmp/out")"
	echo "note: $test: $(grep -c '^\[ *OK \] [a-zA-Z_]' "$tmp/out") tests"
done
