#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of servers as distributions have them, each route has as many requests as the server or its client counts: nginx,
# redis, MariaDB (prepared statements, too), PostgreSQL. And of what these loads ask for, nothing that is
# somebody's own is in a trace: no query string, header, key, value, literal, user or password, no path that one connection alone
# asked for. With ALL, the 99th percentiles of statements and commands are the client's within 5 %.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
command -v curl >/dev/null || skip "no curl"
chmod 755 "$tmp"
secrets='queryzzsecret|headerzzsecret|keyzzsecret|valuezzsecret|literalzzsecret|userzzsecret|passzzsecret|pathzzsecret|correcthorse'

# free_port: one that nobody listens at now.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# record COMMAND...: in $tmp/trace, of the whole machine. The command's own words are not written there.
record() {
	: >"$tmp/err"
	"$cap" -v -F 0 -o "$tmp/trace" 2>"$tmp/err" &
	recorder=$!
	started="$started $recorder"
	wait_for "chaincap records" 60 recording
	"$@" >"$tmp/told" 2>&1 || fail "$*: $(tail -n 3 "$tmp/told")"
	kill -INT "$recorder"
	wait "$recorder"
	expect_exit "chaincap" 0 $?
	if grep -aqE "$secrets" "$tmp/trace"; then
		fail "the trace has $(grep -aoE "$secrets" "$tmp/trace" | head -n 1)"
	fi
}
recording() { grep -q 'ring buffers' "$tmp/err"; }

# routed ROUTE: how many requests have this route, which is a regular expression.
routed() { requests_of request ", route $1,"; }

# expect_route WHAT EXPECTED ROUTE
expect_route() {
	expect "$1: requests of $3, of the routes
$(sed -n 's/.*, \(route [^,]*\),.*/\1/p' "$tmp/requests" | sort | uniq -c | head -n 30)
" "$2" "$(routed "$3")"
}

# percentiles WHAT ENDPOINT PROTOCOL ADDRESS [LOGIN]: LOGIN is the route of what a connection begins with
percentiles() {
	[ "${ALL:-}" ] || return 0
	for try in 1 2 3; do
		record python3 "$(dirname "$0")/../workload/routes/ask_database.py" "$3" "$4" 2
		cp "$tmp/told" "$tmp/asked"
		# By the client's own count.
		sed -n 's/^\([0-9]*\) [0-9]* /\1 /p' "$tmp/asked" >"$tmp/counted"
		[ $# -lt 5 ] || echo "4 $5" >>"$tmp/counted"
		! judge_routes "$1" "$2" || break
	done
}

ran=
# ---- nginx --------------------------------------------------------------------------------------
if command -v nginx >/dev/null; then
	ran="$ran nginx"
	port=$(free_port)
	mkdir "$tmp/nginx"
	cat >"$tmp/nginx.conf" <<-END
		daemon off;
		pid $tmp/nginx.pid;
		error_log $tmp/nginx.log;
		events { }
		http {
			log_format asked '\$request_method \$uri';
			access_log $tmp/access asked;
			client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
			uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
			server { listen 127.0.0.1:$port; location / { return 200 "ok"; } }
		}
	END
	nginx -c "$tmp/nginx.conf" 2>"$tmp/nginx.err" &
	started="$started $!"
	wait_for_server nginx 20 "$tmp/nginx.err" curl -s -o "$tmp/told" "http://127.0.0.1:$port/"
	: >"$tmp/access"
	at="http://127.0.0.1:$port"
	ask_nginx() {
		for _ in 1 2 3; do
			curl -s -o /dev/null -u userzzsecret:passzzsecret -H 'X-Own: headerzzsecret' \
				"$at/users/[1000-1040]/orders?token=queryzzsecret" "$at/cart" "$at/cart" "$at/health"
			curl -s -o /dev/null -d 'valuezzsecret=1' "$at/cart/items" "$at/cart/items"
		done
		# One connection alone: it may be its own.
		curl -s -o /dev/null "$at/reset/correcthorse?[1-9]" "$at/pathzzsecret"
	}
	record ask_nginx
	requests_at "$tmp/trace" "tcp :$port"
	# The one by which it was known to listen may be told late.
	expect "nginx: requests" "$(grep -vc ' /$' "$tmp/access")" "$(requests_of request)"
	expect_route nginx "$(grep -c ' /users/' "$tmp/access")" 'GET /users/[*]/orders'
	expect_route nginx "$(grep -c ' /cart$' "$tmp/access")" 'GET /cart'
	expect_route nginx "$(grep -c ' /health$' "$tmp/access")" 'GET /health'
	expect_route nginx "$(grep -c '^POST /cart/items$' "$tmp/access")" 'POST /cart/items'
	expect_route nginx 9 'GET /[*]/[*]'
	expect_route nginx 1 'GET /[*]'
fi

# ---- redis --------------------------------------------------------------------------------------
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	ran="$ran redis"
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' --requirepass passzzsecret --dir "$tmp" >"$tmp/redis.log" &
	started="$started $!"
	wait_for_server redis 20 "$tmp/redis.log" redis-cli -a passzzsecret -p "$port" ping
	ask_redis() {
		redis-cli --no-auth-warning -a passzzsecret -p "$port" config resetstat
		redis-benchmark -a passzzsecret -p "$port" -c 4 -n 1000 -r 100 -t get,set,lpush --csv
		redis-cli --no-auth-warning -a passzzsecret -p "$port" hset keyzzsecret valuezzsecret 1
	}
	record ask_redis
	requests_at "$tmp/trace" "tcp :$port"
	redis-cli --no-auth-warning -a passzzsecret -p "$port" info commandstats | tr -d '\r' >"$tmp/stats"
	# The benchmark sends AUTH and the first command of each of its 4 connections together: one request.
	for command in get set lpush hset; do
		calls=$(sed -n "s/^cmdstat_$command:calls=\([0-9]*\),.*/\1/p" "$tmp/stats")
		[ "$command" = hset ] || calls=$((calls - 4))
		expect_route redis "$calls" "$(echo "$command" | tr '[:lower:]' '[:upper:]')"
	done
	redis-cli --no-auth-warning -a passzzsecret -p "$port" config set requirepass "" >"$tmp/told"
	percentiles redis "tcp :$port" redis "$port"
fi

# ---- MariaDB ------------------------------------------------------------------------------------
if command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null && command -v sysbench >/dev/null; then
	ran="$ran MariaDB"
	mariadb-install-db --no-defaults --user=root --datadir="$tmp/maria" --skip-test-db \
		--auth-root-authentication-method=normal >"$tmp/maria.log" 2>&1
	mariadbd --no-defaults --user=root --datadir="$tmp/maria" --socket="$tmp/my" --skip-networking \
		>"$tmp/maria.log" 2>&1 &
	started="$started $!"
	in_maria() { mariadb --no-defaults -u root -S "$tmp/my" "$@"; }
	wait_for_server MariaDB 60 "$tmp/maria.log" in_maria -e 'create database if not exists sbtest'
	load() { sysbench oltp_read_only --mysql-socket="$tmp/my" --mysql-user=root --tables=1 --table-size=100 "$@"; }
	load prepare >"$tmp/told"
	# Two connections, each of which prepares each statement once.
	ask_maria() {
		load --threads=2 --events=60 --time=0 run
		for _ in 1 2 3; do
			in_maria sbtest -e "select 'literalzzsecret' from sbtest1 where c = 'valuezzsecret' limit 1"
		done
	}
	record ask_maria
	requests_at "$tmp/trace" "unix $tmp/my"
	read -r reads others <<-END
		$(awk '$1 == "read:" { r = $2 } $1 == "other:" { o = $2 } END { printf "%.0f %.0f\n", r, o }' "$tmp/told")
	END
	expect "MariaDB: what sysbench did" "840 120" "$reads $others"
	# Five statements of the table, as sysbench 1.0 has them; and three by text.
	expect_route MariaDB $((reads + 2 * 5 + 3)) 'SELECT sbtest1'
	expect_route MariaDB $((others / 2 + 2)) BEGIN
	expect_route MariaDB $((others / 2 + 2)) COMMIT
	percentiles MariaDB "unix $tmp/my" mysql "$tmp/my" ""
fi

# ---- PostgreSQL ---------------------------------------------------------------------------------
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [ "$bin" ] && id postgres >/dev/null 2>&1; then
	ran="$ran PostgreSQL"
	mkdir "$tmp/pg"
	chown postgres "$tmp/pg"
	as_postgres() { su postgres -c "cd $tmp/pg && exec $*"; }
	as_postgres "$bin/initdb --no-sync -D $tmp/pg/data" >"$tmp/pg.log" 2>&1
	as_postgres "$bin/postgres -D $tmp/pg/data -k $tmp/pg -h '' -c autovacuum=off -c jit=off" >"$tmp/pg.log" 2>&1 &
	started="$started $!"
	wait_for_server PostgreSQL 60 "$tmp/pg.log" as_postgres "$bin/pgbench -q -i -s 1 -h $tmp/pg postgres"
	for how in simple extended prepared; do
		ask_postgres() { as_postgres "$bin/pgbench -n -c 2 -t 20 -M $how -h $tmp/pg postgres"; }
		record ask_postgres
		requests_at "$tmp/trace" "unix $tmp/pg/.s.PGSQL.5432"
		# With -M prepared each connection sends each Parse by itself.
		parses=0
		[ $how != prepared ] || parses=2
		expect_route "PostgreSQL, $how" $((40 + parses)) 'UPDATE pgbench_tellers'
		expect_route "PostgreSQL, $how" $((40 + parses)) 'UPDATE pgbench_accounts'
		expect_route "PostgreSQL, $how" $((40 + parses)) 'SELECT pgbench_accounts'
		expect_route "PostgreSQL, $how" $((40 + parses)) 'INSERT pgbench_history'
	done
	percentiles PostgreSQL "unix $tmp/pg/.s.PGSQL.5432" postgres "$tmp/pg/.s.PGSQL.5432" "[startup]"
fi
[ "$ran" ] || skip "no server is installed"
echo "note: of$ran"
