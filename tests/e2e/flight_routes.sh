#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each trace of a flight recorder has the routes of its requests, by all requests that there were up to then: one that was
# asked for before the first trace and again before the second is told in both; what one connection alone
# asked for, in none. A trace is written when a request of a route took too long, by what it asks for before that is told.
# Beside another: it counts requests at a port of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
command -v curl >/dev/null || skip "no curl"
python3 "$(dirname "$0")/../tools/http_server.py" >"$tmp/port" &
started="$started $!"
listening() { [ -s "$tmp/port" ]; }
wait_for "the server listens" 60 listening
at="http://127.0.0.1:$(cat "$tmp/port")"

"$cap" -v --flight 60s -F 0 -o "$tmp/trace.bin" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
recording() { grep -q 'ring buffers' "$tmp/err"; }
wait_for "chaincap records" 60 recording
ask() {
	for _ in 1 2 3; do
		curl -s "$at/users/[1000-1009]/orders?token=queryzzsecret" "$at/$1?[1-5]"
	done
	curl -s "$at/correcthorse$1?[1-9]"
}
has_trace() { [ -s "$1" ]; }
ask cart
kill -USR1 "$recorder"
wait_for "the first trace" 60 has_trace "$tmp/trace.bin"
ask report
kill -INT "$recorder"
wait "$recorder"
expect_exit chaincap 0 $?

# routes TRACE CARTS REPORTS ORDERS ALONE
routes() {
	requests_at "$1" "tcp :$(cat "$tmp/port")"
	expect_requests "$1: carts" "$2" request ', route GET /cart,'
	expect_requests "$1: reports" "$3" request ', route GET /report,'
	expect_requests "$1: orders" "$4" request ', route GET /users/[*]/orders,'
	"$walk" -q -f info "$1" >"$tmp/info" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
	grep -qE '^protocol: HTTP: [0-9]+ routes' "$tmp/info" || fail "$1: not of HTTP: $(cat "$tmp/info")"
	expect_requests "$1: of one connection alone" "$5" request ', route GET /[*],'
	if grep -aqE 'correcthorse|queryzzsecret' "$1"; then
		fail "$1 has a word of one connection, or a query string"
	fi
}
routes "$tmp/trace.bin" 15 0 30 9
routes "$tmp/trace.1.bin" 15 15 60 18

# Slow as it is, another route does not count; nor does the word of the one that does get anywhere.
"$cap" -v --flight 60s --trigger-request 'GET /slow/*/report=400ms' -o "$tmp/slow.bin" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
wait_for "chaincap records" 60 recording
curl -s "$at/slow/others?[1-2]"
curl -s "$at/slow/correcthorse/report"
wait_for "a trace of the slow route" 60 has_trace "$tmp/slow.bin"
kill -INT "$recorder"
wait "$recorder"
expect_exit chaincap 0 $?
expect "what took long" "chaincap: a request to tcp :$(cat "$tmp/port") for GET /slow/*/report took" \
	"$(sed -n 's/\(a request to .* took\) [5-9][0-9][0-9][.][0-9] ms$/\1/p' "$tmp/err")"
requests_at "$tmp/slow.bin" "tcp :$(cat "$tmp/port")"
expect_requests "slow requests" 3 request
if grep -aq correcthorse "$tmp/slow.bin" "$tmp/slow.1.bin" "$tmp/err"; then
	fail "a word of one request alone is in a trace"
fi
