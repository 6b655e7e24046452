#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With eight busy threads for each CPU chaincap records within a second from its command line, and has
# written the trace within two from its end.
. "$(dirname "$0")/../e2e/lib.sh"
needs_bpf
for _ in $(seq $((8 * $(nproc)))); do
	timeout 20 sh -c 'while :; do :; done' &
	started="$started $!"
done
sleep 0.3
begin_least=9999999999 end_least=9999999999
# The host may take the CPUs, but not each time.
for _ in 1 2 3; do
	from=$(date +%s%N)
	"$cap" -o "$tmp/trace" -- sh -c 'date +%s%N; sleep 0.2; date +%s%N' >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap on a busy machine" 0 $?
	to=$(date +%s%N)
	begin=$(($(head -n 1 "$tmp/out") - from))
	end=$((to - $(tail -n 1 "$tmp/out")))
	[ $begin -gt $begin_least ] || begin_least=$begin
	[ $end -gt $end_least ] || end_least=$end
	[ $begin_least -gt 1000000000 ] || [ $end_least -gt 2000000000 ] || break
done
for pid in $started; do kill "$pid" 2>/dev/null; done
echo "note: records after $((begin_least / 1000000)) ms, finished $((end_least / 1000000)) ms after the end"
expect_at_most "ns from the command line to the command" 1000000000 $begin_least "$tmp/err"
expect_at_most "ns from the command's end to chaincap's" 2000000000 $end_least "$tmp/err"
