#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests of what depends on the architecture, or looks at processes by what the kernel says of them. Here
# they have all that they need but what the recorder itself says that an older kernel lacks.
. "$(dirname "$0")/../../e2e/lib.sh"
for test in kernel_stack_size kernel_stack_slots kernel_forgetting kallsyms_changes unwind_sleeping_threads unwind_stacks; do
	timeout 100 "$build/tests/unit/$test" >"$tmp/out" 2>&1 || fail "$test: $(cat "$tmp/out")"
	if grep -q '^\[ *SKIPPED \]' "$tmp/out"; then
		is_older && grep -q '^this kernel refuses the usual BPF programs' "$tmp/out" || fail "$test: $(cat "$tmp/out")"
		echo "note: $test: skipped: what is known without a walk: ${older%%: *}"
	fi
	echo "note: $test: $(grep -c '^\[ *OK \] [a-zA-Z_]' "$tmp/out") tests"
done
