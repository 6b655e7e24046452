#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for: a program with one thread for each class of thing. Nine tenths or more of each
# thread's blocked time are spent on what the kernel's own interfaces say it waits for.
. "$(dirname "$0")/lib.sh"
needs_bpf
sources=$(cd "$(dirname "$0")/../objects" && pwd)
command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
"${CC:-cc}" -O2 -g -pthread -o "$tmp/classes" "$sources"/*.c 2>"$tmp/err" || fail "classes: $(cat "$tmp/err")"

timeout 60 "$cap" -o "$tmp/trace" -- "$tmp/classes" 2 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- classes" 0 $?
expect_whole "$tmp/trace"
grep '^cannot' "$tmp/told" | sed 's/^/note: /'
[ "$(grep -c '^waits' "$tmp/told")" -ge 20 ] || fail "too few threads:
$(cat "$tmp/told")"

timeout 60 "$walk" -q -f csv --state blocked "$tmp/trace" >"$tmp/csv" 2>"$tmp/err"
expect_exit "chainwalk -f csv" 0 $?

# Of each thread the blocked time, and how much of it was for what it told.
python3 - "$tmp/csv" "$tmp/told" >"$tmp/shares" 2>"$tmp/err" <<'END' || fail "csv: $(cat "$tmp/err")"
import csv, sys
total, of = {}, {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    tid, ns = row["tid"], int(row["blocked_ns"])
    total[tid] = total.get(tid, 0) + ns
    of[tid, row["object"]] = of.get((tid, row["object"]), 0) + ns
def is_called(got, name):
    """In a chroot paths begin at the root of the mount namespace."""
    cls, _, path = name.partition(" ")
    return got == name or (path.startswith("/") and got.startswith(cls + " /") and got.endswith(path))
for line in open(sys.argv[2]):
    if line.startswith("waits "):
        _, tid, name = line.rstrip("\n").split(" ", 2)
        most = max((k for k in of if k[0] == tid), key=lambda k: of[k], default=("", "nothing"))
        ns = sum(of[k] for k in of if k[0] == tid and is_called(k[1], name))
        print(total.get(tid, 0), ns, name, "| most: " + most[1], sep="\t")
END
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
walk_to "$tmp/fifo.folded" --state=all --object '^\[pipe /.*/fifo classes/[0-9]*\]$' "$tmp/trace"
expect "ns of the FIFO" "$(weight_of ';\[pipe /[^;]*/fifo classes/[0-9]*\];' "$tmp/full.folded")" "$(sum_of "$tmp/fifo.folded")"

# Without them the trace says nothing of it.
timeout 60 "$cap" --no-objects -o "$tmp/trace" -- "$tmp/classes" 1 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --no-objects" 0 $?
"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect "objects with --no-objects" 0 "$(grep -c ' object ' "$tmp/events")"
