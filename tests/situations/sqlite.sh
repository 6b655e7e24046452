# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Each row in a transaction of its own, which is synced.
service_start() { ! lacks sqlite3 || return 77; }
service_load() {
	{
		echo 'create table orders(id integer primary key, article text);'
		[ -z "$service_healthy" ] || echo 'pragma synchronous = off;'
		seq -f "insert into orders(article) values('article %.0f');" $((250 * $1))
	} >"$dir/orders.sql"
	service_until_done sqlite3 "$dir/orders.db" ".read $dir/orders.sql" >"$dir/figures"
}
