#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What comes to a socket and asks nothing makes no other request look as if it had waited: empty and damaged datagrams,
# those that are read into no buffer or a bad one, those that are only looked at, errors that are read. A read of no
# bytes changes nothing of a connection, and a client that only writes no more still gets its answer.
# Sockets at which others only read, however many, cost nobody else's requests.
# Beside another: how long a request had waited is compared with what its own servers wait on purpose.
. "$(dirname "$0")/lib.sh"
needs_usual "requests at sockets"
allowed=$(awk '/^Max open files/ { print $5 }' /proc/self/limits)
[ "$allowed" -gt 6100 ] || skip "too few open files are allowed: $allowed"
command -v python3 >/dev/null || skip "no python3"
timeout 300 "$cap" -q -F 0 -K -o "$tmp/trace" -- \
	python3 "$(dirname "$0")/../workload/requests/disturbed.py" "$tmp/socket" >"$tmp/servers" 2>"$tmp/err"
expect_exit "chaincap -- disturbed.py" 0 $?
expect "servers" 12 "$(wc -l <"$tmp/servers")"
while read -r name endpoint; do
	requests_at "$tmp/trace" "$endpoint"
	if [ "$name" = threads ]; then # more read one socket than are kept: the others are counted
		recorded=$(requests_of request)
		left_out=$(info_figure datagrams_left_out)
		expect "$name: recorded, and counted as left out" 12 $((recorded + ${left_out:-0}))
		expect_at_least "$name: recorded" 4 "$recorded"
		continue
	fi
	expect_requests "$name: answered" 1 request
	expect_requests "$name: not answered" 0 open
	arrived_ms=$(request_ns arrived | awk "{ printf \"%.0f\\n\", \$1 / 1e6 }")
	case $name in
	*stream | half_closed) # it was read 400 ms after it had come
		expect_at_least "$name: ms since it arrived" 390 "$arrived_ms" "$tmp/requests" ;;
	crowd) ;; # it takes its own time
	*) # other things came 400 ms before it did; half of that is for a machine that is busy
		expect_at_most "$name: ms since it arrived" 200 "$arrived_ms" "$tmp/requests" ;;
	esac
done <"$tmp/servers"
