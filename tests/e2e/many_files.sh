#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Three thousand processes that share one table of files cost no more than one of them when the recording ends and open
# requests are searched for; so many tables that the time for it ends cost nobody else's request, and this is said
# at the end and in the trace.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_usual "requests at sockets"
for tool in cc python3; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
cc -O2 -o "$tmp/many_files" "$(dirname "$0")/../attacks/many_files.c" || fail "cc"

# attacked WHAT COUNT PROCESSES [own]: how long the end takes beside them; one other request is open then.
attacked() {
	what=$1
	shift
	"$tmp/many_files" "$@" >"$tmp/ready" &
	attacker=$!
	started="$started $attacker"
	wait_for "$what" 20 grep -q ready "$tmp/ready"
	: >"$tmp/told"
	python3 "$(dirname "$0")/../workload/requests/sockets.py" old 5 >"$tmp/told" &
	old=$!
	started="$started $old"
	wait_for "a connection" 20 grep -q ready "$tmp/told"
	begin_recording "$tmp/trace" -F 0 -K
	kill -USR1 "$old"
	wait_for "a request that is not answered" 20 grep -q client "$tmp/told"
	end_recording
	kill "$old" "$attacker"
	requests_at "$tmp/trace" "tcp :$(awk '$1 == "port" { print $2 }' "$tmp/told")"
	expect_requests "$what: the request that is open" 1 open
	took_ms=$(awk '/finished .* s after the end/ { sub(/.*finished /, ""); printf "%.0f\n", $1 * 1000 }' "$tmp/err.cap")
	left_out=$(info_figure open_left_out)
	echo "note: $what: the end took $took_ms ms, ${left_out:-0} processes not searched"
}

attacked "one table of many" 4000 3000
expect "processes not searched, that share a table" "" "$left_out"
# Visiting each of its files for each process takes 8 s or more; names of the kernel's functions are all that is left.
expect_at_most "ms to end beside one shared table" 4000 "$took_ms"

attacked "tables of their own" 15000 1000 own
expect_at_least "processes not searched" 1 "${left_out:-0}" "$tmp/err.cap"
expect_at_most "processes not searched" 1000 "$left_out"
grep -q "^chaincap: $left_out processes' files were not searched for requests" "$tmp/err.cap" ||
	fail "chaincap does not say what it did not search: $(cat "$tmp/err.cap")"
