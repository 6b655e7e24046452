#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=perfetto, decoded by protoc with the published field numbers (export_perfetto.proto): no field
# but those, each thread's slices follow each other and add up to what --format=threads says of it, and each
# arrow goes from a waking to a slice in which the thread that was woken runs.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data
command -v protoc >/dev/null || skip "no protoc (Debian: protobuf-compiler), which is the reader"

# decode TRACE [OPTION...]: the packets as text in $tmp/text
decode() {
	timeout 300 "$walk" --format=perfetto "$@" >"$tmp/trace" 2>"$tmp/err"
	expect_exit "chainwalk --format=perfetto $*" 0 $?
	timeout 300 protoc -I "$here" --decode=Trace export_perfetto.proto <"$tmp/trace" >"$tmp/text" 2>"$tmp/err" ||
		fail "protoc does not read --format=perfetto $*: $(cat "$tmp/err")"
	expect "fields that are not in the schema" "" "$(grep -E '^ *[0-9]+(: | \{)' "$tmp/text" | head -3)"
}

# The text, read as trace processors do: events by time, those of one time in the order of the file.
# Prints "thread TID STATE NS" for each thread and state, and what is wrong.
cat >"$tmp/read.py" <<'EOF'
import re, sys
from collections import defaultdict

def message(lines):
	m = defaultdict(list)
	for line in lines:
		line = line.strip()
		if line == "}":
			return m
		if line.endswith("{"):
			m[line[:-2]].append(message(lines))
		else:
			key, value = line.split(": ", 1)
			m[key].append(value if value.startswith('"') or not value.isdigit() else int(value))
	return m

packets = message(iter(open(sys.argv[1], encoding="utf-8").read().splitlines()))["packet"]
names, tracks, events = {}, {}, []
for i, p in enumerate(packets):
	assert p["trusted_packet_sequence_id"] == [1]
	assert p["sequence_flags"] == [1 if i == 0 else 2]
	for data in p["interned_data"]:
		for e in data["event_names"]:
			assert e["iid"][0] not in names
			names[e["iid"][0]] = e["name"][0].strip('"')
	for t in p["track_descriptor"]:
		assert t["uuid"][0] not in tracks
		tracks[t["uuid"][0]] = t
	for e in p["track_event"]:
		assert e["track_uuid"][0] in tracks, "an event before its track"
		events.append((p["timestamp"][0], i, e))
clock = packets[0]["clock_snapshot"][0]
assert clock["primary_trace_clock"] == ["BUILTIN_CLOCK_MONOTONIC"]
assert packets[0]["trace_packet_defaults"][0]["timestamp_clock_id"] == [3]
events.sort(key=lambda e: e[:2])
open_slice, sums, flows, ended = {}, defaultdict(int), {}, set()
for ns, _, e in events:
	uuid, kind = e["track_uuid"][0], e["type"][0]
	name = names[e["name_iid"][0]] if e["name_iid"] else None
	if kind == "TYPE_SLICE_BEGIN":
		assert uuid not in open_slice, "a slice begins in another one"
		open_slice[uuid] = (name, ns)
		for flow in e["terminating_flow_ids"]:
			assert name == "running" and flow in flows and flow not in ended, "an arrow to nowhere"
			assert flows[flow] <= ns, "an arrow back in time"
			ended.add(flow)
	elif kind == "TYPE_SLICE_END":
		state, begin = open_slice.pop(uuid)
		assert ns > begin
		sums[uuid, state] += ns - begin
	else:
		assert kind == "TYPE_INSTANT" and name.startswith("wakes ")
		for flow in e["flow_ids"]:
			assert flow not in flows
			flows[flow] = ns
assert not open_slice, "slices without an end"
assert ended == set(flows), "arrows without an end"
total = defaultdict(int)
for (uuid, state), ns in sums.items():
	total[tracks[uuid]["thread"][0]["tid"][0], state] += ns
for (tid, state), ns in sorted(total.items()):
	print("thread", tid, state, ns)
print("arrows", len(flows))
EOF

for trace in "$data"/relay.bin "$data"/disk_syncs.bin "$data"/lost.bin "$data"/rename.bin "$data"/exec.bin "$data"/shares.bin; do
	for range in '' '--from=0.005 --to=0.05'; do
		# shellcheck disable=SC2086 # options, separated by spaces
		decode $range "$trace"
		if command -v python3 >/dev/null; then
			python3 "$tmp/read.py" "$tmp/text" >"$tmp/slices" 2>"$tmp/err" || fail "$trace: $(cat "$tmp/err")"
			expect_at_least "$trace: arrows" 1 "$(awk '$1 == "arrows" { print $2 }' "$tmp/slices")"
		else
			skip "protoc reads it, but there is no python3 to check slices and arrows with"
		fi
		# shellcheck disable=SC2086
		timeout 300 "$walk" -q --format=threads --unit=ns --state=all $range "$trace" >"$tmp/threads"
		# a name may have spaces: numbers are counted from the end, up to the column WAITED
		awk 'BEGIN { split("running blocked runnable preempted unknown", state, " ") }
		$1 == "TID" { end = index($0, "WAITED") + 5 }
		{ $0 = substr($0, 1, end) }
		$1 == "TID" { for (from_end = NF; $(NF - from_end) != "RUNNING"; from_end--) ; }
		$1 ~ /^[0-9]+$/ {
			for (i = 1; i <= 5; i++)
				sum[$1 " " state[i]] += $(NF - from_end - 1 + i)
		} END { for (s in sum) if (sum[s]) printf "thread %s %.0f\n", s, sum[s] }' "$tmp/threads" |
			sort >"$tmp/expected"
		grep '^thread' "$tmp/slices" | sort >"$tmp/got"
		cmp -s "$tmp/expected" "$tmp/got" || fail "$trace [$range]: --format=threads, and the slices
$(diff "$tmp/expected" "$tmp/got" | head -10)"
	done
done

# one thread's wakers have tracks with their wakings alone
decode -t "$(timeout 300 "$walk" -q --format=threads "$data/relay.bin" | awk '$3 == "alpha" { print $1 }')" "$data/relay.bin"
grep -q 'thread_name: "bravo"' "$tmp/text" || fail "bravo woke alpha, and has no track"
expect "processes and threads that run" "" "$(python3 "$tmp/read.py" "$tmp/text" | grep running | sed 1d)"
