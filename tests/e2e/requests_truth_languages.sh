#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Servers in Python, Node, Go and Java, whose requests are slow now and then: as many as their clients counted, and
# none longer than its client's, who keeps all latencies; what each took adds up to the nanosecond.
# Beside another: it judges requests of its own servers, by counting.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
. "$(dirname "$0")/../services/recorded.sh"

for name in python node go java; do
	record_service $name 2 || continue
	look_at "$endpoint" "$dir/latencies_ns" 1
	expect "$name: requests" "$(figure count)" $(($(recorded count) + $(recorded first)))
	not_longer
	adds_up
done
[ "$ran" ] || skip "no server is installed"
