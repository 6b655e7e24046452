# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# MariaDB under sysbench: 8 threads, an event is a query. sysbench's histogram has steps of 2 %.
# A slow query sleeps for 5 to 15 ms.
# shellcheck source=bench/mariadb.sh
. "$services/../../bench/mariadb.sh"
service_start() {
	! lacks mariadbd mariadb-install-db mariadb sysbench || return 77
	mariadb_workload=oltp_point_select
	mariadb_start || return 1
	server_kept=$mariadb_pid
	service_endpoint="unix $dir/socket"
	[ "$service_slow" ] || return 0
	mariadb_workload=$dir/slow.lua
	cat >"$mariadb_workload" <<-END
		function thread_init() server = sysbench.sql.driver():connect() end
		function event() server:query("SELECT SLEEP(0.005 + RAND() / 100)") end
		sysbench.cmdline.options = { tables = {"", 1}, table_size = {"", 1} }
	END
}
service_sysbench() {
	how='exec' # in a process of its own
	mariadb_sysbench --db-ps-mode=disable --time="$1" --histogram run
}
service_load() {
	service_until_done service_sysbench "$1" >"$dir/sysbench" 2>&1 &&
		awk '
			$2 ~ /^\|/ && $NF ~ /^[0-9]+$/ { value[++n] = $1 * 1000; count[n] = $NF; all += $NF }
			$1 == "max:" { max = $2 * 1000 }
			function percentile(p,   i, sum) {
				for (i = 1; i < n && (sum += count[i]) < all * p / 100; i++) continue
				return value[i]
			}
			END { printf "count %.0f\np50_us %.1f\np90_us %.1f\np99_us %.1f\nmax_us %.1f\n", all,
				percentile(50), percentile(90), percentile(99), max }' "$dir/sysbench" >"$dir/figures"
}
