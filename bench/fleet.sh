#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What rows of many machines cost: rows a second from a trace into SQLite and into ClickHouse (two servers on this
# machine), bytes a row, and seconds of each question of docs/fleet at ten million rows, which are the rows of one
# recorded trace for a thousand hosts, a few times a day.
#   bench/fleet.sh BUILD_DIR [TRACE [ROWS]]
#   TRACE   default tests/data/shop.bin
#   ROWS    default 10000000; SQLite gets a tenth
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
trace=$(realpath "${2:-$(dirname "$0")/../tests/data/shop.bin}")
rows=${3:-10000000}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
pids=
# shellcheck disable=SC2154 # the loop's
trap 'for p in $pids; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
# shellcheck source=tests/fleet/servers.sh
. tests/fleet/servers.sh
make_servers "$dir" 2
for i in 1 2; do
	start_server "$dir" $i
	pids="$pids $server"
done
make_tables "$dir"
now() { date +%s.%N; }
# seconds COMMAND...: how long it took
seconds() {
	local begin
	begin=$(now)
	"$@" >/dev/null || echo "failed: $*" >&2
	awk -v a="$begin" -v b="$(now)" 'BEGIN { printf "%.2f", b - a }'
}
# median COMMAND...: of three
median() { for _ in 1 2 3; do seconds "$@"; echo; done | sort -n | sed -n 2p; }

echo "$(nproc) CPUs, kernel $(uname -r), $(date +%F), ClickHouse $(ask_server 1 'SELECT version()'), SQLite $(sqlite3 --version | cut -d' ' -f1)"
export CHAINWALK="$O/chainwalk"
"$O/chainwalk" -q -f rows --table waits "$trace" >"$dir/waits.tsv"
one=$(wc -l <"$dir/waits.tsv")
echo "$(basename "$trace"): $(wc -c <"$trace") bytes, $one rows of $(($(wc -c <"$dir/waits.tsv") / one)) bytes as text, and $("$O/chainwalk" -q -f rows --table chains "$trace" | wc -c) bytes of chains"
into_sqlite() { rm -f "$dir/one.db"; "$O/chainwalk" -q -f sqlite -o "$dir/one.db" "$trace"; }
printf '%-42s %s s\n' "chainwalk -f rows" "$(median "$O/chainwalk" -q -f rows "$trace")" \
	"chainwalk -f sqlite" "$(median into_sqlite)"
sh docs/fleet/load.sh "$shards" "$trace"

copies=$((rows / one))
columns="process, thread, endpoint, waited_for, ended, had_cpu, chain, ran, latency_ns, waits, blocked_ns, runnable_ns, preempted_ns, running_ns, samples, route, over_ns"
make_rows() {
	local making=
	for i in 1 2; do
		ask_server $i "INSERT INTO waits_shard (time, trace, host, cgroup, $columns)
			SELECT time - 86400 + intDiv(n, 1000) * 60, trace, concat('host', toString(n % 1000)), cgroup, $columns
			FROM waits CROSS JOIN (SELECT number * 2 + $((i - 1)) AS n FROM system.numbers LIMIT $((copies / 2)))" &
		making="$making $!"
	done
	# shellcheck disable=SC2086 # a list
	wait $making
}
took=$(seconds make_rows)
n=$(ask_server 1 "SELECT count() FROM waits")
echo "ClickHouse: $n rows made in $took s: $(awk -v n="$n" -v s="$took" 'BEGIN { printf "%.0f", n / s }') rows/s"
for i in 1 2; do ask_server $i "SELECT sum(bytes) FROM system.parts WHERE active AND table = 'waits_shard'"; done |
	awk -v n="$n" '{ bytes += $1 } END { printf "ClickHouse: %.1f bytes a row on disk\n", bytes / n }'

into_sqlite
sqlite3 "$dir/one.db" "BEGIN;
	CREATE TABLE numbers AS WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n LIMIT $((copies / 10))) SELECT n FROM n;
	INSERT INTO keys SELECT NULL, 'host' || n, cgroup, process, thread, endpoint, waited_for, ended, had_cpu, route FROM keys, numbers WHERE n < 1000;
	CREATE TABLE k AS SELECT a.number AS old, n, b.number AS new FROM keys AS a, numbers JOIN keys AS b ON b.host = 'host' || (n % 1000)
		AND (a.cgroup, a.process, a.thread, a.endpoint, a.waited_for, a.ended, a.had_cpu, a.route)
			= (b.cgroup, b.process, b.thread, b.endpoint, b.waited_for, b.ended, b.had_cpu, b.route)
		WHERE a.host NOT LIKE 'host%' AND n < 1000;
	CREATE INDEX k_of ON k(n, old);
	INSERT INTO facts SELECT time - 86400 + n / 1000 * 60, trace, (SELECT new FROM k WHERE k.n = numbers.n % 1000 AND old = key), chain, ran,
		latency_ns, waits, blocked_ns, runnable_ns, preempted_ns, running_ns, samples, over_ns FROM facts, numbers;
	DROP TABLE k; DROP TABLE numbers; COMMIT; VACUUM"
m=$(sqlite3 "$dir/one.db" "SELECT count(*) FROM facts")
echo "SQLite: $m rows, $(($(wc -c <"$dir/one.db") / m)) bytes a row with all else"

endpoint=$(sqlite3 "$dir/one.db" "SELECT endpoint FROM keys WHERE endpoint <> '' LIMIT 1")
process=$(sqlite3 "$dir/one.db" "SELECT process FROM keys WHERE endpoint = '' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
since=$(sqlite3 "$dir/one.db" "SELECT max(time) - 86400 + 120 FROM facts")
echo
printf '%-12s %16s %16s\n' question "ClickHouse, s" "SQLite, s"
for question in "cost since=$since" "hosts process=$process" "neighbours cgroup=" "p99 endpoint=$endpoint" "picture"; do
	name=${question%% *}
	argument=${question#"$name"}
	argument=${argument# }
	set -- "$name" ${argument:+"$argument"}
	printf '%-12s %16s %16s\n' "$name" "$(median sh docs/fleet/ask.sh "${shards%,*}" "$@")" "$(median sh docs/fleet/ask.sh "$dir/one.db" "$@")"
done
