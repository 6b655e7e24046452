# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# PostgreSQL under pgbench, which logs the latency of each transaction. A script of its own, as pgbench asks
# about its tables before one that it brings along; the transactions are a query each. A slow
# one sleeps for 5 to 15 ms.
service_start() {
	! lacks psql pgbench || return 77
	server_unused=yes server_start postgresql || return
	service_endpoint="unix $dir/postgresql/.s.PGSQL.5432"
	pgbench -h "$dir/postgresql" -U postgres -i -q -s 2 postgres >"$dir/prepare.log" 2>&1
}
service_load() {
	echo '\set aid random(1, 200000)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;' >"$dir/query"
	length="-T $1"
	# By number, as on a busy machine none may be done in a second.
	[ ! "$service_slow" ] || { length="-t $(($1 * 100))"; echo 'SELECT pg_sleep(0.005 + random() / 100);' >"$dir/query"; }
	# shellcheck disable=SC2086 # an option and its value
	service_until_done pgbench -h "$dir/postgresql" -U postgres -n -c 8 -j 2 $length -f "$dir/query" -l \
		--log-prefix="$dir/latencies" postgres >"$dir/pgbench.log" 2>&1 &&
		cut -d ' ' -f 3 "$dir"/latencies.* >"$dir/latencies_us" && service_figures 1 "$dir/latencies_us"
}
