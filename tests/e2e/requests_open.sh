#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests on connections that are older than the recording are counted from its beginning, and one that is
# not answered at its end is told. --no-requests records none. A trace of the flight recorder has them.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
clients=$(dirname "$0")/../workload/requests/sockets.py

# begin_old N [PATH]: a connection that is there, and was used once.
begin_old() {
	: >"$tmp/told"
	python3 "$clients" old "$@" >"$tmp/told" 2>"$tmp/told.err" &
	old=$!
	started="$started $old"
	wait_for "the connection is there" 20 grep -q ready "$tmp/told"
	endpoint="tcp :$(awk '$1 == "port" { print $2 }' "$tmp/told")"
	[ $# = 1 ] || endpoint="unix $2"
}

# use_old: it goes on until the last request is read.
use_old() {
	kill -USR1 "$old"
	wait_for "the requests are over" 20 grep -q client "$tmp/told"
	answers=$(awk '$1 == "client" { print $2 }' "$tmp/told")
}

for path in "" "$tmp/socket"; do
	# shellcheck disable=SC2086 # nothing where there is no path
	begin_old 50 $path
	begin_recording "$tmp/trace" -F 0
	use_old
	end_recording
	kill "$old"
	requests_at "$tmp/trace" "$endpoint"
	expect_requests "$endpoint: requests" "$answers" request
	expect_requests "$endpoint: of an old connection" "$answers" request ' old,'
	expect_requests "$endpoint: first ones" 0 request ' first'
	expect_requests "$endpoint: not answered at the end" 1 open ' old,'
done

begin_old 50
begin_recording "$tmp/none" -F 0 --no-requests
use_old
end_recording
kill "$old"
requests_at "$tmp/none" "$endpoint"
expect "requests with --no-requests" "" "$(cat "$tmp/requests")"

begin_old 50
fly "$tmp/flight" --flight 60s
use_old
end_recording
kill "$old"
requests_at "$(find "$tmp" -name 'flight*' -type f | head -n 1)" "$endpoint"
expect_requests "requests in a flight recorder's trace" "$answers" request
