#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Servers in Python, Node, Go, Java and PHP, whose requests are sometimes slow: as many as their clients counted, and
# none longer than its client's, who keeps all latencies; what each took adds up to the nanosecond. Where a service says
# which of its program's functions makes them slow, that is in the chains of slow ones, with its line.
# Beside another: it judges requests of its own servers, by counting.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
. "$(dirname "$0")/../services/recorded.sh"

for name in python node go java php; do
	record_service $name 2 || continue
	look_at "$endpoint" "$dir/latencies_ns" 1
	expect "$name: requests" "$(figure count)" $(($(recorded count) + $(recorded first)))
	not_longer
	adds_up
	line=$(service_expect line)
	if [ "$line" ]; then
		"$walk" -q -v --inline -f tree --requests --request-min 20ms "$trace" >"$tmp/tree"
		grep -qE "$line" "$tmp/tree" || fail "$name: no slow request's chain has $line"
		walk_to "$tmp/inlined" --inline --requests --request-min 20ms "$trace"
		expect "$name: chains that do not begin with a request" "" "$(grep -v '^\[request ' "$tmp/inlined" | head -3)"
	fi
	frame=$(service_expect frame)
	[ "$frame" ] || continue
	walk_to "$tmp/slow" --requests --request-min 20ms "$trace"
	grep -qE ";${frame}[; ]" "$tmp/slow" || fail "$name: no slow request's chain has $frame: $(head -3 "$tmp/slow")"
done
[ "$ran" ] || skip "no server is installed"
