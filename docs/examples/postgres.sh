#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A counter in a PostgreSQL table: each commit holds the row's lock while the disk is waited for.
. "$(dirname "$0")/lib.sh"
bin=$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/pgbench" ] || bin=$(dirname "$(command -v pgbench || echo /none)")
[ -x "$bin/postgres" ] && [ -x "$bin/initdb" ] || skip "no PostgreSQL here (Debian, Ubuntu: apt-get install postgresql)"
needs setpriv util-linux
id -u postgres >/dev/null 2>&1 || skip "no user postgres here, and PostgreSQL refuses to run as root"
PATH=$bin:$PATH

# A server of its own: no TCP, its socket and its data in $tmp.
chmod 711 "$tmp"
mkdir "$tmp/pg" && chown postgres "$tmp/pg"
become_postgres() { cd / && exec setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env env PATH="$PATH" LC_ALL=C PGHOST="$tmp/pg" "$@"; }
as_postgres() { (become_postgres "$@"); }
as_postgres initdb -A trust -U postgres -D "$tmp/pg/data" >"$tmp/log" 2>&1 || { tail -n 3 "$tmp/log"; fail "initdb"; }
(become_postgres postgres -D "$tmp/pg/data" -k "$tmp/pg" -c listen_addresses= -c autovacuum=off) >"$tmp/log" 2>&1 &
started=$!
for try in $(seq 100); do
	as_postgres psql -qAtc 'select 1' >/dev/null 2>&1 && break
	[ "$try" -lt 100 ] || { cat "$tmp/log"; fail "the server does not answer"; }
	sleep 0.1
done
as_postgres psql -q -c 'create table counter (id int primary key, n bigint); insert into counter values (1, 0)' ||
	fail "no table"
echo 'update counter set n = n + 1 where id = 1;' >"$tmp/pg/count.sql"

# Four clients count for three seconds: clients [POSTGRES_OPTION...]
clients() {
	as_postgres env PGOPTIONS="$*" pgbench -n -c 4 -j 4 -M prepared -f "$tmp/pg/count.sql" -T 3
}
# rate FILE: of pgbench's output.
rate() {
	sed -n 's/^tps = \([0-9]*\).*/\1/p' "$1"
}

title "The symptom"
clients >"$tmp/before" 2>"$tmp/err" || { cat "$tmp/err"; fail "pgbench"; }
before=$(rate "$tmp/before")
printf '\n$ pgbench -n -c 4 -j 4 -f count.sql -T 3\n'
echo "tps = $before"
(become_postgres pgbench -n -c 4 -j 4 -M prepared -f "$tmp/pg/count.sql" -T 100) >/dev/null 2>&1 &
load=$!
started="$load $started" # they go before the server does
for try in $(seq 100); do # until they count
	[ "$(as_postgres psql -qAtc "select count(*) from pg_stat_activity where application_name = 'pgbench'")" = 4 ] && break
	[ "$try" -lt 100 ] || fail "pgbench does not begin"
	sleep 0.1
done
printf '\n$ chaincap 1\n'
timeout 60 chaincap -o trace.bin 1 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
grep '^chaincap:' "$tmp/err"
kill $load
wait $load 2>/dev/null

title "Off-CPU, off-wake, chain: the same wait"
show chainwalk -f tree -c '^pgbench$' --top 1 --depth 0 trace.bin
show chainwalk -f tree -c '^pgbench$' --top 1 --depth 1 trace.bin
show chainwalk -f tree -c '^pgbench$' --top 1 trace.bin
pictures "Four clients, one counter" 3 -c '^pgbench$'
# Of what a chain says, only that is counted which a busy machine does not change: not how long somebody had
# no CPU, or worked. Backends wake each other by signals.
grep ';postgres;--;' chain.folded >asleep.folded
claim "of the time for which the answering server process slept, until another let go of a lock" 60 \
	"$(share ';postgres;--;[^-]*__send_signal_locked;.*;LockReleaseAll;' asleep.folded)"
chainwalk -q --depth 10 -c '^pgbench$' trace.bin | grep ';postgres;--;.*;postgres;--;' |
	grep -v '\[\(run[a-z]*\|not woken\|unknown\)\] ' >asleep.folded
claim "of the time for which that other one, with the lock, slept itself, for the disk" 60 \
	"$(share ';blk[^;]*;.*\[disk [^;]*\];\[' asleep.folded)"

title "The cure"
clients -c synchronous_commit=off >"$tmp/after" 2>"$tmp/err" || { cat "$tmp/err"; fail "pgbench"; }
printf '\n$ PGOPTIONS="-c synchronous_commit=off" pgbench -n -c 4 -j 4 -f count.sql -T 3\n'
cured "transactions a second" "$before" "$(rate "$tmp/after")" 2

title "What a server ran: a query that computes"
as_postgres psql -q -c 'create table visit (id int, page text)' -c "insert into visit
	select n, md5(n::text) || '/' || md5((7 * n)::text) from generate_series(1, 3000000) n" -c 'analyze visit' ||
	fail "no table of visits"
query="select left(page, 2), count(*) from visit where page like '%0%1%2%3%4%5%6%' group by 1 order by 2 desc limit 3"
printf '\n$ chaincap -- psql -c "%s"\n' "$query"
PGOPTIONS='-c max_parallel_workers_per_gather=0' timeout 60 chaincap -o query.bin -- setpriv --reuid=postgres --regid=postgres \
	--clear-groups psql -h "$tmp/pg" -c "$query" 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
grep '^chaincap:' "$tmp/err"
show chainwalk -f tree -c '^psql$' --top 1 query.bin
chainwalk -q -c '^psql$' query.bin | grep ';postgres;\[running\];' >ran.folded
for function in textlike heap_getnextslot LookupTupleHashEntry jit_compile_expr; do
	printf '%s %% in %s\n' "$(share ";${function}[; ]" ran.folded)" $function
done
claim "of what postgres ran for psql, in LIKE" 30 "$(share ';textlike[; ]' ran.folded)"
