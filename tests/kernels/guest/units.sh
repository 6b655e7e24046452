#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests of what depends on the architecture, or looks at processes by what the kernel says of them. Here
# they have all that they need, but an older kernel may lack what the recorder itself says, and may have no program of
# BPF where another one had been: it gives each one pages of its own.
. "$(dirname "$0")/../../e2e/lib.sh"
for test in kernel_stack_size kernel_stack_slots kernel_forgetting kallsyms_changes unwind_sleeping_threads unwind_stacks; do
	timeout 100 "$build/tests/unit/$test" >"$tmp/out" 2>&1 || fail "$test: $(cat "$tmp/out")"
	if grep -q '^\[ *SKIPPED \]' "$tmp/out"; then
		why=$(grep -e '^this kernel refuses the usual BPF programs' -e '^no program was loaded where another one had been$' "$tmp/out")
		is_older && [ "$why" ] || fail "$test: $(cat "$tmp/out")"
		echo "note: $test: skipped: ${why%%: *}"
	fi
	echo "note: $test: $(grep -c '^\[ *OK \] [a-zA-Z_]' "$tmp/out") tests"
done
