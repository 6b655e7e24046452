# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Stock of eight articles in PostgreSQL. A user's session changes one of them, and leaves the transaction open
# for a while before it is committed.
service_start() {
	! lacks psql cc pg_config || return 77
	service_build visitors -I"$(pg_config --includedir)" client.c client_postgresql.c -lpq || return 1
	server_unused=yes server_start postgresql || return
	service_endpoint="unix $dir/postgresql/.s.PGSQL.5432"
	service_stock='update stock set pieces = pieces + 1 where article ='
	psql -h "$dir/postgresql" -U postgres -q >"$dir/psql.log" 2>&1 -c 'alter database postgres set synchronous_commit = off' \
		-c 'create table stock as select article, 0 as pieces from generate_series(0, 7) article' || return 1
	[ "$service_healthy" ] || {
		yes "begin; $service_stock 3;
\\! sleep 0.2
commit;
\\! sleep 0.4" | head -n 40000 >"$dir/session.sql"
		psql -h "$dir/postgresql" -U postgres -q -f "$dir/session.sql" >"$dir/session.log" 2>&1 &
		server_kept="$server_kept $!"
	}
}
service_load() {
	service_ask -s "$1" "host=$dir/postgresql user=postgres dbname=postgres" "$service_stock {}"
}
