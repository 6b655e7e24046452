#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A database has the routes of requests, and what these took beyond the median of their route, as csv has them; one of
# version 1, which had neither, keeps its rows, and gets new ones.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v sqlite3 >/dev/null || skip "no sqlite3"

sqlite3 "$tmp/before.db" <<'END' || fail "a database of version 1"
CREATE TABLE traces(number INTEGER PRIMARY KEY, time INTEGER, trace BLOB UNIQUE, host TEXT, started_ns INTEGER, duration_ns INTEGER, cpus INTEGER, kernel TEXT, arch TEXT, recorder TEXT, events INTEGER, lost INTEGER, bytes INTEGER);
CREATE TABLE modules(time INTEGER, trace BLOB, host TEXT, path TEXT, build_id TEXT);
CREATE INDEX modules_by_trace ON modules(trace);
CREATE TABLE chains(number INTEGER PRIMARY KEY, time INTEGER, chain BLOB UNIQUE, frames TEXT);
CREATE TABLE keys(number INTEGER PRIMARY KEY, host TEXT, cgroup TEXT, process TEXT, thread TEXT, endpoint TEXT, waited_for TEXT, ended TEXT, had_cpu TEXT, UNIQUE(host, cgroup, process, thread, endpoint, waited_for, ended, had_cpu));
CREATE TABLE facts(time INTEGER, trace INTEGER, key INTEGER, chain INTEGER, ran INTEGER, latency_ns INTEGER, waits INTEGER, blocked_ns INTEGER, runnable_ns INTEGER, preempted_ns INTEGER, running_ns INTEGER, samples INTEGER);
CREATE INDEX facts_by_trace ON facts(trace);
CREATE INDEX facts_by_time ON facts(time);
CREATE VIEW waits AS SELECT f.time AS time, t.trace AS trace, k.host AS host, cgroup, process, thread, endpoint, waited_for, ended, had_cpu, c.chain AS chain, r.chain AS ran, latency_ns, waits, blocked_ns, runnable_ns, preempted_ns, running_ns, samples FROM facts AS f JOIN traces AS t ON t.number = f.trace JOIN keys AS k ON k.number = f.key JOIN chains AS c ON c.number = f.chain LEFT JOIN chains AS r ON r.number = f.ran;
INSERT INTO traces VALUES(1, 60, x'0102', 'web1', 1, 2, 3, 'k', 'a', 'r', 4, 0, 5);
INSERT INTO chains VALUES(1, 60, x'03', 'read;write');
INSERT INTO keys VALUES(1, 'web1', '/a', 'nginx', 'nginx', 'tcp :80', '[tcp]', '[running]', '');
INSERT INTO facts VALUES(60, 1, 1, 1, NULL, 700, 2, 1400, 0, 0, 0, 0);
PRAGMA application_id = 0x63686e73;
PRAGMA user_version = 1;
END
"$walk" -q -f sqlite -o "$tmp/before.db" tests/data/shop.bin || fail "adding to a database of version 1"
"$walk" -q -f sqlite -o "$tmp/new.db" tests/data/shop.bin || fail "a new database"
expect "the row that was there" "nginx|tcp :80|read;write|700|2|1400||0" \
	"$(sqlite3 "$tmp/before.db" "SELECT process, endpoint, c.frames, latency_ns, waits, blocked_ns, route, over_ns FROM waits JOIN chains AS c USING (chain) WHERE waits.trace = x'0102'")"
# rows DATABASE: those of the trace
rows() {
	sqlite3 "$1" "SELECT endpoint, route, latency_ns, over_ns, hex(chain), waits, blocked_ns, ended, thread FROM waits WHERE trace <> x'0102' ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9"
}
rows "$tmp/before.db" >"$tmp/added"
rows "$tmp/new.db" >"$tmp/rows"
[ -s "$tmp/rows" ] || fail "no rows"
cmp "$tmp/rows" "$tmp/added" || fail "rows in a database that was there and in a new one: $(diff "$tmp/rows" "$tmp/added" | head -n 5)"

# Requests by route, as in csv; a length is rounded up by less than an eighth, and so is what is beyond the median.
"$walk" -q -f csv --requests tests/data/shop.bin >"$tmp/requests.csv" || fail "csv"
requests() { sqlite3 :memory: '.mode csv' ".import $tmp/requests.csv r" '.mode list' "$1"; }
requests "SELECT route, count(*), count(CASE WHEN over_ns > 0 THEN 1 END) FROM r GROUP BY route ORDER BY route" >"$tmp/expected"
sqlite3 "$tmp/new.db" "SELECT route, sum(waits), sum(CASE WHEN over_ns > 0 THEN waits ELSE 0 END) FROM waits WHERE endpoint <> '' GROUP BY route ORDER BY route" >"$tmp/got"
expect_at_least "routes" 3 "$(wc -l <"$tmp/expected")" "$tmp/expected"
cmp "$tmp/expected" "$tmp/got" || fail "requests by route: $(diff "$tmp/expected" "$tmp/got")"
over=$(requests "SELECT sum(over_ns) FROM r")
expect_at_least "the sum beyond the medians, ns" "$over" "$(sqlite3 "$tmp/new.db" "SELECT sum(over_ns * waits) FROM waits")" "$tmp/got"
expect_at_least "at most an eighth more, ns" "$(sqlite3 "$tmp/new.db" "SELECT sum(over_ns * waits) FROM waits")" "$((over + over / 8 + 1))" "$tmp/got"
