#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A tid that is used again is another thread: two processes with the same tid are told apart.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" landlord tenants --work 3000,6000
grep ';landlord_waits;.*;--;' "$tmp/folded" |
	skeleton '^(landlord_waits|(first|second)_tenant_wakes_patient)$' >"$tmp/chains"
for name in first:tenant1 second:tenant2; do
	grep -q "^landlord;landlord_waits;--;${name%:*}_tenant_wakes_patient;${name#*:};" "$tmp/chains" ||
		fail "${name#*:}: no chain with its functions
$(cat "$tmp/chains")"
done
by_threads <"$tmp/folded" >"$tmp/chains"
first='landlord;--;tenant1' second='landlord;--;tenant2'
expect_about "the first tenant's work" 3000000 "$(weight "$first;[running]" "$tmp/chains")" "$tmp/chains"
expect_about "the first tenant's sleep" 20000000 "$(weight "$first;--;[timer]" "$tmp/chains")" "$tmp/chains"
expect_about "the second tenant's work" 6000000 "$(weight "$second;[running]" "$tmp/chains")" "$tmp/chains"
expect_about "the second tenant's sleep" 20000000 "$(weight "$second;--;[timer]" "$tmp/chains")" "$tmp/chains"
"$walk" -q --format=threads -t "$(told tid)" "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk --format=threads" 0 $?
expect "threads with that tid" "tenant1 tenant2" \
	"$(awk -v tid="$(told tid)" '$1 == tid { print $3 }' "$tmp/threads" | sort | xargs)"
