# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # dir is whose it is
# A MariaDB server of one's own, loaded by sysbench with 8 threads: by oltp_read_only, or by
# $mariadb_workload; to be sourced. Wants $dir, a folder for it, exported. mariadb_missing says what is
# not installed; mariadb_start and mariadb_stop; mariadb_load TRANSACTIONS prints the seconds that they
# took. Or mariadb_busy, and mariadb_idle, with the load going on in between; mariadb_rate SECONDS prints
# how many transactions a second it does in the next whole seconds.

mariadb_missing() {
	for tool in mariadbd mariadb-install-db mariadb sysbench; do
		command -v $tool >/dev/null || echo $tool
	done
}

mariadb_sysbench() {
	${how:-} sysbench "${mariadb_workload:-oltp_read_only}" --mysql-socket="$dir/socket" --mysql-user=root --tables=2 \
		--table-size=20000 --threads=8 --time=0 "$@"
}

mariadb_start() {
	mariadb-install-db --no-defaults --user=root --datadir="$dir/data" \
		--auth-root-authentication-method=normal >"$dir/install.log" 2>&1
	mariadbd --no-defaults --user=root --datadir="$dir/data" --socket="$dir/socket" \
		--skip-networking --pid-file="$dir/pid" >"$dir/server.log" 2>&1 &
	mariadb_pid=$!
	for _ in $(seq 300); do
		[ -S "$dir/socket" ] && break
		sleep 0.1
	done
	command mariadb --no-defaults -u root -S "$dir/socket" -e "create database sbtest"
	mariadb_sysbench prepare >/dev/null
}

mariadb_stop() {
	mariadb_idle
	[ -z "${mariadb_pid:-}" ] || { kill "$mariadb_pid" && wait "$mariadb_pid"; } 2>/dev/null || true
	mariadb_pid=
}

mariadb_load() {
	mariadb_sysbench --events="$1" run | sed -n 's/.*total time: *\([0-9.]*\)s.*/\1/p'
}

mariadb_busy() {
	# The process that is killed in the end is sysbench itself.
	how='exec' mariadb_sysbench --report-interval=1 run >"$dir/sysbench" &
	mariadb_client=$!
	mariadb_rate 2 >"$dir/rate" # warm up
}

mariadb_idle() {
	[ -z "${mariadb_client:-}" ] || { kill "$mariadb_client" && wait "$mariadb_client"; } 2>/dev/null || true
	mariadb_client=
}

mariadb_rate() {
	local from
	from=$(($(mariadb_reports) + 1)) # the second under way does not count
	until [ "$(mariadb_reports)" -ge $((from + $1)) ]; do
		kill -0 "$mariadb_client" || return 1
		sleep 0.2
	done
	awk -v from="$from" -v n="$1" 'sub(/.*tps: /, "") && ++i > from && i <= from + n { sum += $1 }
		END { printf "%.1f\n", sum / n }' "$dir/sysbench"
}

# How many seconds sysbench has reported on.
mariadb_reports() { grep -c tps: "$dir/sysbench" || true; }
