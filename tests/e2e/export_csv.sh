#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=csv is read by python's csv and by sqlite3's .import: as many rows as there are waits, as wide as
# the header each, and sums that are the folded lines' to the nanosecond.
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data
readers=
command -v python3 >/dev/null && readers=python3
command -v sqlite3 >/dev/null && readers="$readers sqlite3"
[ -n "$readers" ] || skip "neither python3 nor sqlite3"

# Prints rows, then sums of off-CPU time, of blocked time and of the ends.
cat >"$tmp/read.py" <<'EOF'
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as f:
	rows = list(csv.reader(f, strict=True))
head, rows = rows[0], rows[1:]
assert all(len(r) == len(head) for r in rows)
at = {name: i for i, name in enumerate(head)}
total = lambda *names: sum(int(r[at[n]]) for r in rows for n in names)
for r in rows:
	assert int(r[at["start_ns"]]) < int(r[at["end_ns"]]) and r[at["thread"]] and r[at["stack"]]
	assert r[at["kind"]] in ("sleep", "preempted") and len(r[at["wall_time"]]) == 30
print(len(rows), total("blocked_ns", "runnable_ns", "preempted_ns"), total("blocked_ns"),
	total(*(n for n in head if n.startswith("end_") and n != "end_ns")))
EOF
cat >"$tmp/read.sql" <<'EOF'
.separator " "
SELECT count(*), sum(blocked_ns + runnable_ns + preempted_ns), sum(blocked_ns + 0),
	sum(end_running_ns + end_runnable_ns + end_interrupt_ns + end_not_woken_ns + end_unknown_ns +
	end_depth_limit_ns + end_loop_ns + end_timer_ns + end_network_ns + end_disk_ns) FROM waits;
EOF
read_csv() {
	case $1 in
	python3) python3 "$tmp/read.py" "$2" ;;
	sqlite3) sqlite3 -bail :memory: '.mode csv' ".import $2 waits" ".read $tmp/read.sql" ;;
	esac
}

for trace in "$data"/relay.bin "$data"/disk_syncs.bin "$data"/lost.bin; do
	for options in '--state=all' '--depth=1 --no-idle' '--mode=classic -K' '--min-wait=1ms --from=0.01 --to=0.05'; do
		# shellcheck disable=SC2086 # options, separated by spaces
		{
			timeout 300 "$walk" --format=csv $options "$trace" >"$tmp/csv" 2>"$tmp/err"
			expect_exit "chainwalk --format=csv $options" 0 $?
			walk_to "$tmp/folded" $options "$trace"
		}
		waits=$(sed -n 's/^\([0-9]*\) waits:.*/\1/p' "$tmp/err")
		all=$(weight_of . "$tmp/folded")
		for reader in $readers; do
			read_csv "$reader" "$tmp/csv" >"$tmp/read" 2>"$tmp/err" || fail "$reader: $(cat "$tmp/err")"
			expect "$reader $trace [$options]: waits, and off-CPU time" "$waits $all" "$(cut -d' ' -f1,2 "$tmp/read")"
			expect "$reader $trace [$options]: blocked time, and its ends" "$(cut -d' ' -f3 "$tmp/read")" \
				"$(cut -d' ' -f4 "$tmp/read")"
		done
	done
done

# What a hostile process calls itself stays in its field. (The kernel cuts it to 15 bytes.)
[ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] && "$build/may_record" >"$tmp/err" || { echo "note: no recording here: hostile names not tried"; exit 0; }
timeout 300 "$cap" -F 0 -o "$tmp/hostile" -- sh -c '
	printf "a,\"b\",\n1,\377;c" >/proc/self/comm
	sleep 0.05
	sleep 0.05' 2>"$tmp/err"
expect_exit "chaincap -- sh" 0 $?
timeout 300 "$walk" -q --format=csv "$tmp/hostile" >"$tmp/csv" 2>"$tmp/err"
expect_exit "chainwalk --format=csv" 0 $?
for reader in $readers; do
	case $reader in
	python3) python3 -c 'import csv, sys
print({r["thread"] for r in csv.DictReader(open(sys.argv[1], encoding="utf-8", newline=""))
	if r["thread"].startswith("a,")})' "$tmp/csv" >"$tmp/read"
		expect "$reader: the hostile name" "{'a,\"b\",?1,?:c'}" "$(cat "$tmp/read")" ;;
	sqlite3) sqlite3 -bail :memory: '.mode csv' ".import $tmp/csv waits" '.mode list' \
		"SELECT DISTINCT thread FROM waits WHERE thread LIKE 'a,%'" >"$tmp/read"
		expect "$reader: the hostile name" 'a,"b",?1,?:c' "$(cat "$tmp/read")" ;;
	esac
done
