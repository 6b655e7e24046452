#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests of which it is not seen what they ask for are said to be enciphered, as many as there were.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in python3 openssl curl; do
	command -v $program >/dev/null || skip "no $program"
done
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key" -out "$tmp/cert" -subj /CN=localhost -days 2 2>/dev/null ||
	skip "openssl makes no certificate"
python3 "$(dirname "$0")/../tools/http_server.py" "$tmp/cert" "$tmp/key" >"$tmp/tls" &
started="$started $!"
wait_for "the server listens" 60 [ -s "$tmp/tls" ]

"$cap" -v -F 0 -o "$tmp/trace.bin" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
recording() { grep -q 'ring buffers' "$tmp/err"; }
wait_for "chaincap records" 60 recording
# Three connections, of which each has ten requests.
for _ in 1 2 3; do
	curl -sk "https://127.0.0.1:$(cat "$tmp/tls")/correcthorse?[1-10]"
done
kill -INT "$recorder"
wait "$recorder"
expect_exit chaincap 0 $?

requests_at "$tmp/trace.bin" "tcp :$(cat "$tmp/tls")"
expect_requests "beginnings of connections" 3 request ', route \[TLS handshake\],'
enciphered=$(grep -c ', route \[TLS\],' "$tmp/requests")
expect_at_least "enciphered requests" 30 "$enciphered" "$tmp/requests"
expect_requests "all of them" "$((enciphered + 3))" request
"$walk" -q -f info "$tmp/trace.bin" >"$tmp/info" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
grep -q '^not_told: \[TLS\]: ' "$tmp/info" || fail "$(cat "$tmp/info")"
