#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=pprof is read by go tool pprof: its samples are the folded lines to the nanosecond, its labels
# choose among them, files have their build IDs, and profiles of two traces are merged into one.
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data
has_pprof || skip "no go with pprof (Debian: golang-go), which is the reader"

# export FILE TRACE [OPTION...]: its profile, and its folded lines in nanoseconds as $tmp/folded
export_to() {
	file=$1 trace=$2
	shift 2
	timeout 300 "$walk" --format=pprof -o "$file" "$@" "$trace" 2>"$tmp/summary"
	expect "exit status of chainwalk --format=pprof $*" 0 $?
	walk_to "$tmp/folded" "$@" "$trace"
}

# as_folded PROFILE: what pprof read, as folded lines; waits in $tmp/waits. Times are the values behind the
# waits: blocked, and of a trace with samples cpu, of which a line has one.
as_folded() {
	pprof -raw "$1" >"$tmp/raw"
	awk -v waits="$tmp/waits" '
		/^Samples:/ { part = "samples"; next }
		/^Locations/ { part = "locations"; next }
		/^Mappings/ { part = "" }
		part == "samples" && /^ +[0-9]+ +[0-9]+( +[0-9]+)?:/ {
			total += $1
			n++
			split($0, side, ": *")
			stack[n] = side[2]
			values = split(side[1], value, " ")
			for (i = 2; i <= values; i++)
				ns[n] += value[i]
		}
		part == "locations" {
			id = $1 + 0
			sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "")
			sub(/ :0(:0)? s=[0-9]+.*$/, "")
			name[id] = $0
		}
		END {
			for (i = 1; i <= n; i++) {
				depth = split(stack[i], frame, " ")
				line = name[frame[depth]]
				for (k = depth - 1; k > 0; k--)
					line = line ";" name[frame[k]]
				sum[line] += ns[i]
			}
			for (line in sum)
				if (sum[line])
					printf "%s %.0f\n", line, sum[line]
			printf "%.0f\n", total >waits
		}' "$tmp/raw" | sort
}

for trace in "$data"/relay.bin "$data"/disk_syncs.bin "$data"/lost.bin "$data"/rename.bin; do
	for options in '' '--state=all --annotate --blocked-stacks' '--mode=classic --depth=3' '-K --no-idle' \
		'--no-ends --no-delim --from=0.01 --to=0.05' '--min-wait=1ms --no-kthreads -c ^[a-c]'; do
		# shellcheck disable=SC2086 # options, separated by spaces
		export_to "$tmp/profile" "$trace" $options
		as_folded "$tmp/profile" >"$tmp/read"
		sort "$tmp/folded" >"$tmp/sorted"
		cmp -s "$tmp/sorted" "$tmp/read" || fail "$trace [$options]: folded lines, and what pprof read
$(diff "$tmp/sorted" "$tmp/read" | head -10)"
		expect "$trace [$options]: waits" "$(sed -n 's/^\([0-9]*\) waits:.*/\1/p' "$tmp/summary")" \
			"$(cat "$tmp/waits")"
	done
done

# With samples: what was run stands above [running], and own running time is a value of its own. These two are alone
# with their names: profiles keep processes apart, and so share out the time of each by its own samples.
for options in '--state=blocked' '--state=running' '--state=all --depth=1'; do
	# shellcheck disable=SC2086
	export_to "$tmp/profile" "$data/shares.bin" -c '^(client|worker)$' $options
	as_folded "$tmp/profile" >"$tmp/read"
	sort "$tmp/folded" >"$tmp/sorted"
	cmp -s "$tmp/sorted" "$tmp/read" || fail "samples [$options]: folded lines, and what pprof read
$(diff "$tmp/sorted" "$tmp/read" | head -10)"
done
export_to "$tmp/profile" "$data/shares.bin"
walk_to "$tmp/folded" --state=running "$data/shares.bin"
pprof -raw "$tmp/profile" | awk '/^Samples:/ { on = 1 } /^Locations/ { on = 0 }
	on && /^ +[0-9]+ +[0-9]+ +[0-9]+:/ { sum += $3 } END { printf "%.0f\n", sum }' >"$tmp/cpu"
expect "CPU time without --state" "$(weight_of . "$tmp/folded")" "$(cat "$tmp/cpu")"
pprof -top -cum -sample_index=cpu -nodefraction=0 "$tmp/profile" >"$tmp/top"
grep -q ' worker_sorts$' "$tmp/top" || fail "no function of the worker's: $(head -40 "$tmp/top")"
pprof -tags "$tmp/profile" | grep -q 'running$' || fail "no label for running time: $(pprof -tags "$tmp/profile")"

# total PPROF-OPTION...: nanoseconds that a report accounts for
total() {
	pprof -raw "$@" | awk '/^Samples:/ { on = 1 } /^Locations/ { on = 0 }
		on && /^ +[0-9]+ +[0-9]+:/ { sum += $2 } END { printf "%.0f\n", sum }'
}

export_to "$tmp/relay" "$data/relay.bin"
pprof -top -unit=ms -nodefraction=0 "$tmp/relay" >"$tmp/top"
grep -q '^Type: blocked$' "$tmp/top" || fail "not blocked time by default: $(head -8 "$tmp/top")"
grep -q ' alpha_waits$' "$tmp/top" || fail "no function of the relay's: $(head -40 "$tmp/top")"
grep -q ' \[\(timer\|interrupt\)\]$' "$tmp/top" || fail "no end of chains: $(head -40 "$tmp/top")"
waits=$(sed -n 's/^\([0-9]*\) waits:.*/\1/p' "$tmp/summary")
pprof -top -sample_index=waits "$tmp/relay" >"$tmp/top"
grep -q "^Showing .* of $waits total\$" "$tmp/top" || fail "not $waits waits: $(head -8 "$tmp/top")"

# labels
pprof -tags "$tmp/relay" | sed -n 's/^ *\([a-z]*\): Total .*/\1/p' | sort | tr '\n' ' ' >"$tmp/labels"
expect labels "end host links pid process state thread " "$(cat "$tmp/labels")"
pprof -tags -unit=ns "$tmp/relay" | grep -q ': testhost$' || fail "no label with the host's name"
for end in interrupt running runnable unknown 'not woken'; do
	expect "time with the label end=[$end]" "$(weight_of "\\[$end\\] [0-9]*\$" "$tmp/folded")" \
		"$(pprof -tagfocus="end=^\\[$end\\]\$" -proto -output="$tmp/some" "$tmp/relay" >/dev/null
		total "$tmp/some")"
done
pprof -tagfocus='thread=^alpha$' -proto -output="$tmp/some" "$tmp/relay" >/dev/null
expect "time with the label thread=alpha" "$(weight_of '^alpha;' "$tmp/folded")" "$(total "$tmp/some")"
pprof -tagfocus='links=2' -proto -output="$tmp/some" "$tmp/relay" >/dev/null
expect "time with two links" \
	"$(awk '{ weight = $NF; if (gsub(/;--;/, "") == 2) sum += weight } END { printf "%.0f\n", sum }' "$tmp/folded")" \
	"$(total "$tmp/some")"

# files and their build IDs, as the trace has them
pprof -raw "$tmp/relay" | sed -n '/^Mappings/,$p' >"$tmp/mappings"
grep -qE '\[kernel\] [0-9a-f]{40} \[FN\]$' "$tmp/mappings" || fail "the kernel's build ID: $(cat "$tmp/mappings")"
grep -qE '/libc\.so\.6 [0-9a-f]{40} \[FN\]$' "$tmp/mappings" || fail "libc's build ID: $(cat "$tmp/mappings")"

# several into one, of the same sample types
cp "$tmp/folded" "$tmp/both"
export_to "$tmp/pingpong" "$data/pingpong.bin"
cat "$tmp/folded" >>"$tmp/both"
pprof -proto -output="$tmp/merged" "$tmp/relay" "$tmp/pingpong" >/dev/null
as_folded "$tmp/merged" >"$tmp/read"
awk '{ ns = $NF; sub(/ [0-9]+$/, ""); sum[$0] += ns } END { for (l in sum) printf "%s %.0f\n", l, sum[l] }' \
	"$tmp/both" | sort >"$tmp/sorted"
cmp -s "$tmp/sorted" "$tmp/read" || fail "two profiles merged
$(diff "$tmp/sorted" "$tmp/read" | head -10)"
pprof -raw "$tmp/merged" | grep -qE '\[kernel\] [0-9a-f]{40} \[FN\]$' || fail "a build ID got lost in merging"
