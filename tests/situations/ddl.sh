# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# ddl.cc: a table is altered while a report that reads it leaves its transaction open: who reads it waits for both.
service_start() {
	! lacks psql g++ cc pg_config || return 77
	service_compile c++ ddl -I"$(pg_config --includedir)" -lpq || return 1
	server_unused=yes server_start postgresql || return
	service_sql -c 'create table offers as select offer, 100 + offer as price from generate_series(0, 7) offer' || return 1
	yes 'begin; select sum(price) from offers;
\! sleep 0.25
commit;
\! sleep 0.6' | head -n 40000 >"$dir/report.sql"
	yes '\! sleep 0.15
alter table offers alter price set default 1;' | head -n 40000 >"$dir/alter.sql"
	service_sql -f "$dir/report.sql" &
	server_kept="$server_kept $!"
	[ "$service_healthy" ] || {
		service_sql -f "$dir/alter.sql" &
		server_kept="$server_kept $!"
	}
	service_run "$dir/ddl" "host=$dir/postgresql user=postgres dbname=postgres"
}
service_sql() { psql -h "$dir/postgresql" -U postgres -q -o /dev/null "$@" >>"$dir/psql.log" 2>&1; }
service_load() { service_ask -c 8 -s "$1" "$service_port" '/{}'; }
