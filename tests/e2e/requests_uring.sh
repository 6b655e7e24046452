#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests at a server that reads and writes by io_uring alone are as many as its client counts.
# Beside another: it counts requests at a port of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v cc >/dev/null || skip "no C compiler"
cc -O2 -pthread -o "$tmp/uring" "$(dirname "$0")/../workload/requests/uring.c" -luring 2>"$tmp/err" ||
	skip "cannot be built here: $(tail -n 1 "$tmp/err")"
"$tmp/uring" 1 >"$tmp/told" 2>"$tmp/err" || skip "no io_uring here: $(cat "$tmp/err")"
timeout 300 "$cap" -q -F 0 -o "$tmp/trace" -- "$tmp/uring" 300 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- uring 300" 0 $?
requests_at "$tmp/trace" "tcp :$(awk '$1 == "port" { print $2 }' "$tmp/told")"
expect_requests "requests" "$(awk '$1 == "client" { print $2 }' "$tmp/told")" request
expect_requests "requests that the server's thread answered" 300 request \
	"/$(awk '$1 == "writer" { print $2 }' "$tmp/told") answers"
# The call that reads does not say where, so nobody guesses.
expect_requests "requests with a route" 0 request ', route '
