#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More different stacks than there is room for on the kernel side, and more processes: room is made for
# new ones, so that none has to be sent at each event; what comes after is told right; memory is bounded.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_bpf
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (${CC:-cc}) to build the workload with"
workload=$(cd "$(dirname "$0")/../workload" && pwd)

cat >"$tmp/variety.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "calls.h"
/* Each path of calls is another stack. */
static void zero(int depth, unsigned int path);
IN_STACK void one(int depth, unsigned int path)
{
	if (!depth)
		sleep_until(1 + clock_ns(CLOCK_MONOTONIC));
	else
		(path & 1 ? one : zero)(depth - 1, path >> 1);
	__asm__ volatile("");
}
IN_STACK void zero(int depth, unsigned int path)
{
	if (!depth)
		sleep_until(1 + clock_ns(CLOCK_MONOTONIC));
	else
		(path & 1 ? one : zero)(depth - 1, path >> 1);
	__asm__ volatile("");
}
IN_STACK void after_all(void)
{
	for (int i = 0; i < 50; i++)
		sleep_until(1000000 + clock_ns(CLOCK_MONOTONIC));
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	unsigned int each = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	uint64_t start;

	for (int i = 0; i < 20; i++) {
		/* Two at a time, with pauses: a recorder that gets little of the CPUs loses none. */
		if (fork()) {
			if (i % 2)
				while (wait(NULL) > 0)
					;
			continue;
		}
		for (unsigned int path = 0; path < each; path++)
			zero(17, path);
		_exit(0);
	}
	start = clock_ns(CLOCK_MONOTONIC);
	after_all();
	printf("after %llu\n", (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - start));
	return 0;
}
END
"${CC:-cc}" -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE -I"$workload" \
	-o "$tmp/variety" "$tmp/variety.c" 2>"$tmp/err" || fail "cannot build: $(cat "$tmp/err")"

# A recorder that is kept waiting loses nothing in rings as large.
timeout 300 "$cap" -F 0 -v --buffer-size 64M -o "$tmp/trace" -- "$tmp/variety" 8000 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- 160 thousand stacks in 20 processes" 0 $?
grep '^chaincap: recorder:' "$tmp/err" | sed 's/^chaincap/note/'
grep -q 'too many different stacks' "$tmp/err" && fail "no room was made:
$(grep '^chaincap: ' "$tmp/err")"
stacks=$(sed -n 's/^chaincap: [0-9]* events.* \([0-9]*\) stacks.*/\1/p' "$tmp/err")
grep -q ' 0 lost' "$tmp/err" || skip "this machine is too busy: events were lost"
mib=$(sed -n 's/^chaincap: recorder: .* s CPU, \([0-9]*\) MiB.*/\1/p' "$tmp/err")
# Of it the rings are 64 MiB for each CPU, and at most 48 MiB are stacks that wait for the rules of their code
# (PENDING_STACKS_MAX_BYTES), of which there are many on a busy machine.
expect_at_most "memory of the recorder, MiB" $((168 + 48 + 64 * $(nproc))) "$mib" "$tmp/err"
walk_to "$tmp/folded" --depth=0 --state=all -c '^variety$' "$tmp/trace"
# 50 of a millisecond; what was told is how long they took by the clock.
expect_at_least "waits after all" 45000000 "$(weight_of ';after_all;' "$tmp/folded")" "$tmp/folded"
expect_at_most "waits after all" "$(awk '$1 == "after" { print $2 }' "$tmp/told")" \
	"$(weight_of ';after_all;' "$tmp/folded")" "$tmp/folded"
# The paths of all processes are the same, so they are told once.
expect_at_least "different paths" 7900 "$(grep -c ';zero;' "$tmp/folded")"
expect_at_most "stacks in the trace" 60000 "$stacks"
