#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A library that is loaded where another one has been: what waits there is named after the one that
# was there at the time, although the addresses are the same. Also when both come back.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (${CC:-cc}) to build the libraries with"
workload=$(cd "$(dirname "$0")/../workload" && pwd)

cat >"$tmp/plugin.c" <<'END'
#include "calls.h"
__attribute__((noinline)) void NAME(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + 10000000);
	__asm__ volatile("");
}
END
cat >"$tmp/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include "calls.h"
__attribute__((noinline)) static uint64_t uses(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*f)(void) = (void (*)(void))(library ? dlsym(library, name) : NULL);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), took;

	if (!f)
		return 0;
	for (int i = 0; i < 5; i++)
		f();
	took = clock_ns(CLOCK_MONOTONIC) - start;
	printf("at %p\n", (void *)f);
	dlclose(library);
	return took;
}
int main(int argc, char **argv)
{
	uint64_t one = 0, two = 0;

	for (int round = 0; argc > 2 && round < 3; round++) {
		one += uses(argv[1], "plugin_one");
		two += uses(argv[2], "plugin_two");
	}
	printf("one %llu\ntwo %llu\n", (unsigned long long)one, (unsigned long long)two);
	return !one || !two;
}
END
build() {
	# shellcheck disable=SC2086 # options
	"${CC:-cc}" -O1 -fno-omit-frame-pointer -D_GNU_SOURCE -I"$workload" "$@" 2>"$tmp/err" ||
		fail "cannot build $*: $(cat "$tmp/err")"
}
build -shared -fPIC -DNAME=plugin_one -o "$tmp/one.so" "$tmp/plugin.c"
build -shared -fPIC -DNAME=plugin_two -o "$tmp/two.so" "$tmp/plugin.c"
build -o "$tmp/pluginhost" "$tmp/host.c" -ldl

for how in "" "--flight 20s"; do
	rm -f "$tmp/trace" # --flight would leave it alone and write trace.1
	# shellcheck disable=SC2086 # an option and its value
	timeout 300 "$cap" -F 0 $how -o "$tmp/trace" -- "$tmp/pluginhost" "$tmp/one.so" "$tmp/two.so" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap $how -- a host of plugins" 0 $?
	expect "addresses at which the plugins were" 1 "$(grep '^at ' "$tmp/told" | sort -u | wc -l)"
	walk_to "$tmp/folded" --depth=0 --state=blocked -c '^pluginhost$' "$tmp/trace"
	"$walk" -q -f csv -c '^pluginhost$' "$tmp/trace" | cat "$tmp/folded" - "$tmp/told" >"$tmp/waits"
	# Each sleeps 15 times for 10 ms, by the timer, nine tenths of which it is off its CPU, and for no longer than
	# it was called. On a busy machine the rules of a library's code come late, and its first stacks are cut. All
	# others are in the right plugin.
	cut=$(weight_of '^pluginhost;(clock_nanosleep;)?\[sleep\];' "$tmp/folded")
	for which in one two; do
		told=$(awk -v name=$which '$1 == name { print $2 }' "$tmp/told")
		got=$(weight_of ";plugin_$which;" "$tmp/folded")
		expect_at_least "waits in plugin_$which, without those of cut stacks, chaincap $how" $((135000000 - cut)) \
			"$got" "$tmp/waits"
		expect_at_most "waits in plugin_$which, chaincap $how" "$told" "$got" "$tmp/waits"
	done
	expect_at_most "waits of cut stacks" 75000000 "$cut" "$tmp/folded"
done
