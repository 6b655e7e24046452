#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# However a server reads its requests (tests/workload/requests/reads.c), by programs of 64 and of 32 bits, each has its
# route; or it has none where the bytes are not where the call says, but never another one. With --no-routes
# none has.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v cc >/dev/null || skip "no C compiler"
route='GET /users/[*]/orders'

# count WHAT OPTION...: in $tmp/counts "WAY REQUESTS ROUTED OTHERWISE"
count() {
	what=$1
	shift
	timeout 300 "$cap" -q -F 0 "$@" -o "$tmp/trace" -- "$tmp/reads" >"$tmp/told" 2>"$tmp/err"
	expect_exit "$what: chaincap -- reads" 0 $?
	: >"$tmp/counts"
	while read -r way port; do
		requests_at "$tmp/trace" "tcp :$port"
		echo "$way $(requests_of request) $(requests_of request ", route $route,") \
$(requests_of request ', route ')" >>"$tmp/counts"
	done <"$tmp/told"
	if grep -q secretquery "$tmp/trace"; then
		fail "$what: the trace has a query string"
	fi
}

# judge WHAT: of all ways but the last two all requests have the route, of these none has any.
judge() {
	expect "$1: ways in which all 50 requests have their route" 10 \
		"$(awk '$2 == 50 && $3 == 50 && $4 == 50 { n++ } END { printf "%.0f", n }' "$tmp/counts")"
	expect "$1: requests that were thrown away" "trunc 50 0 0" "$(grep '^trunc ' "$tmp/counts")"
	expect "$1: requests read by a call for several" "many 50 0 0" "$(grep '^many ' "$tmp/counts")"
}

cc -O1 -pthread -o "$tmp/reads" "$(dirname "$0")/../workload/requests/reads.c" || fail "reads.c: does not compile"
count "64 bits"
cat "$tmp/counts"
judge "64 bits"
count "without routes" --no-routes
expect "without routes: requests with one" 0 "$(awk '{ n += $4 } END { printf "%.0f", n }' "$tmp/counts")"
expect "without routes: requests" 600 "$(awk '{ n += $2 } END { printf "%.0f", n }' "$tmp/counts")"
if cc -m32 -O1 -pthread -o "$tmp/reads" "$(dirname "$0")/../workload/requests/reads.c" 2>"$tmp/err"; then
	count "32 bits"
	judge "32 bits"
else
	echo "note: no 32-bit programs can be built here: $(tail -n 1 "$tmp/err")"
fi
