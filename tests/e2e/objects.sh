#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for: a program with one thread for each class of thing. Nine tenths or more of each
# thread's blocked time are spent on what the kernel's own interfaces say it waits for.
# Beside another: what counts is how the blocked time of its own threads is shared out.
. "$(dirname "$0")/lib.sh"
needs_more "what threads wait for"
timeout 300 "$cap" -o "$tmp/trace" -- "$build/classes" 2 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- classes" 0 $?
cp "$tmp/err" "$tmp/err.cap"
expect_whole "$tmp/trace"
grep '^cannot' "$tmp/told" | sed 's/^/note: /'
[ "$(grep -c '^waits' "$tmp/told")" -ge 20 ] || fail "too few threads:
$(cat "$tmp/told")"

timeout 300 "$walk" -q -f csv --state blocked "$tmp/trace" >"$tmp/csv" 2>"$tmp/err"
expect_exit "chainwalk -f csv" 0 $?

# Of each thread the blocked time, how much of it was for what it told, and what else most of it was for.
awk '
	# The fields of a line of comma-separated values, in cell[1], cell[2], ...
	function split_cells(line,    part, n, i, comma, commas, k, count) {
		cell[count = 1] = ""
		n = split(line, part, "\"")
		for (i = 1; i <= n; i++) {
			if (i % 2 == 0) { # within quotes
				cell[count] = cell[count] part[i]
				continue
			}
			if (part[i] == "" && i > 1 && i < n) { # a quote there, doubled
				cell[count] = cell[count] "\""
				continue
			}
			commas = split(part[i], comma, ",")
			cell[count] = cell[count] comma[1]
			for (k = 2; k <= commas; k++)
				cell[++count] = comma[k]
		}
	}
	# In a chroot paths begin at the root of the mount namespace.
	function is_called(got, name,    class, path) {
		class = path = name
		sub(/ .*/, "", class)
		sub(/[^ ]* /, "", path)
		return got == name || (path ~ /^\// && index(got, class " /") == 1 &&
			substr(got, length(got) - length(path) + 1) == path)
	}
	FNR == NR {
		if (sub(/^waits /, "")) {
			tid = $1
			sub(/^[0-9]+ /, "")
			name[tid] = $0
		}
		next
	}
	FNR == 1 {
		split_cells($0)
		for (i in cell)
			column[cell[i]] = i
		next
	}
	{
		split_cells($0)
		tid = cell[column["tid"]]
		ns = cell[column["blocked_ns"]]
		object = cell[column["object"]]
		if (!(tid in name))
			next
		total[tid] += ns
		if (is_called(object, name[tid]))
			told[tid] += ns
		else if ((other[tid, object] += ns) > most[tid]) {
			most[tid] = other[tid, object]
			else_for[tid] = object
		}
	}
	END {
		for (tid in name)
			printf "%.0f\t%.0f\t%s\t| else: %s\n", total[tid], told[tid], name[tid], else_for[tid]
	}' "$tmp/told" "$tmp/csv" >"$tmp/shares"
awk -F '\t' '$1 < 500000000 { print "blocked for less than half a second: " $0; bad = 1 }
	$2 < 0.9 * $1 { print "expected nine tenths for " $3 ", got " $2 " of " $1 " ns " $4; bad = 1 }
	END { exit bad }' "$tmp/shares" >"$tmp/bad" || fail "what threads waited for:
$(cat "$tmp/bad")"

# What is shown changes no time, and what is chosen by class adds up.
sum_of() {
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"
}
walk_to "$tmp/classes.folded" --state=all "$tmp/trace"
walk_to "$tmp/full.folded" --state=all --objects "$tmp/trace"
walk_to "$tmp/none.folded" --state=all --no-objects "$tmp/trace"
expect "ns with --objects" "$(sum_of "$tmp/none.folded")" "$(sum_of "$tmp/full.folded")"
expect "ns with classes" "$(sum_of "$tmp/none.folded")" "$(sum_of "$tmp/classes.folded")"
walk_to "$tmp/pipe.folded" --state=all --class pipe "$tmp/trace"
expect "ns of pipes" "$(weight_of ';\[pipe\];' "$tmp/classes.folded")" "$(sum_of "$tmp/pipe.folded")"
walk_to "$tmp/fifo.folded" --state=all --object '^\[pipe /.*/fifo\]$' "$tmp/trace"
expect "ns of the FIFO" "$(weight_of ';\[pipe /[^;]*/fifo\];' "$tmp/full.folded")" "$(sum_of "$tmp/fifo.folded")"

# Without them the trace says nothing of it.
timeout 300 "$cap" --no-objects -o "$tmp/trace" -- "$build/classes" 1 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --no-objects" 0 $?
"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect "objects with --no-objects" 0 "$(grep -c ' object ' "$tmp/events")"
