#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A shop whose slowest orders take a hundred times as long as those in the middle.
. "$(dirname "$0")/lib.sh"
bin=$(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/postgres" ] && [ -x "$bin/initdb" ] || skip "no PostgreSQL here (Debian, Ubuntu: apt-get install postgresql)"
needs setpriv util-linux
id -u postgres >/dev/null 2>&1 || skip "no user postgres here, and PostgreSQL refuses to run as root"
PATH=$bin:$PATH

# A server of its own: no TCP, its socket and its data in $tmp.
chmod 711 "$tmp"
mkdir "$tmp/shop" && chown postgres "$tmp/shop"
become_postgres() { cd / && exec setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env env PATH="$PATH" LC_ALL=C PGHOST="$tmp/shop" "$@"; }
as_postgres() { (become_postgres "$@"); }
as_postgres initdb -A trust -U postgres -D "$tmp/shop/data" >"$tmp/log" 2>&1 || { tail -n 3 "$tmp/log"; fail "initdb"; }
(become_postgres postgres -D "$tmp/shop/data" -k "$tmp/shop" -c listen_addresses= -c autovacuum=off -c jit=off) >"$tmp/log" 2>&1 &
started=$!
for try in $(seq 100); do
	as_postgres psql -qAtc 'select 1' >/dev/null 2>&1 && break
	[ "$try" -lt 100 ] || { cat "$tmp/log"; fail "the server does not answer"; }
	sleep 0.1
done

# Eight articles; an order takes a piece off the shelf, and the customer thinks for a while before the next one.
as_postgres psql -q -c 'create table stock (article int primary key, pieces int)' \
	-c 'insert into stock select article, 1000000 from generate_series(0, 7) article' \
	-c "create table visit as select n, md5(n::text) as page from generate_series(1, 400000) n" -c 'analyze' ||
	fail "no tables"
cat >"$tmp/shop/order.sql" <<'END'
\set article random(0, 7)
\set think random(5000, 15000)
update stock set pieces = pieces - 1 where article = :article;
\sleep :think us
END
# The marketing department counts visits, in the transaction in which it puts a piece of article 3 back.
cat >"$tmp/shop/visits.sql" <<'END'
begin;
update stock set pieces = pieces + 1 where article = 3;
select count(*) from visit where page like '%0%1%2%3%';
commit;
\sleep 900 ms
END

title "The symptom"
(become_postgres pgbench -n -c 1 -f "$tmp/shop/visits.sql" -T 100 postgres) >"$tmp/visits" 2>&1 &
marketing=$!
started="$marketing $started" # it goes before the server does
(become_postgres pgbench -n -c 8 -j 4 -f "$tmp/shop/order.sql" -T 100 postgres) >"$tmp/orders" 2>&1 &
shop=$!
started="$shop $started"
for try in $(seq 100); do # until they order
	[ "$(as_postgres psql -qAtc "select count(*) from pg_stat_activity where application_name = 'pgbench'")" = 9 ] && break
	[ "$try" -lt 100 ] || fail "pgbench does not begin"
	sleep 0.1
done
printf '\n$ chaincap 6\n'
timeout 60 chaincap -o trace.bin 6 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
grep '^chaincap:' "$tmp/err"
kill $shop $marketing
wait $shop $marketing 2>/dev/null

title "Why"
chainwalk -q -f requests trace.bin >requests.txt || fail "chainwalk -f requests"
printf '\n$ chainwalk\n'
timeout 60 script -qec "stty columns 100 rows 24; chainwalk -q trace.bin" /dev/null </dev/null | tr -d '\r' | head -n 24
show chainwalk -q -f tree --slowest 1% --request "$tmp/shop/" --top 1 trace.bin >slowest.txt
head -n 40 slowest.txt

# The row of the orders: mean, p50, p90, p99 come behind the count and the rate.
awk -v at="unix $tmp/shop/" 'index($0, at) == 1 && / postgres x / && !/ first / { sub(/.* postgres x [0-9]+/, ""); print $4, $6; exit }' \
	requests.txt >percentiles.txt
read -r p50 p99 <percentiles.txt
echo "p50 $p50 ms, p99 $p99 ms"
awk -v a="$p50" -v b="$p99" 'BEGIN { exit !(b > 10 * a) }' || fail "the slowest are not slow"
chainwalk -q --slowest 1% --request "$tmp/shop/" trace.bin >slowest.folded || fail "chainwalk --slowest"
flamegraph --title "The slowest orders" slowest.folded >slowest.svg || fail "no picture"
claim "of the slowest orders' time, until somebody released a lock" 50 "$(share ';(ProcLockWakeup|LWLockRelease);' slowest.folded)"
