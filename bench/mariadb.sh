# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # dir is whose it is
# A MariaDB server of one's own, loaded by sysbench's oltp_read_only with 8 threads; to be sourced. Wants
# $dir, a folder for it, exported. mariadb_missing says what is not installed; mariadb_start and
# mariadb_stop; mariadb_load TRANSACTIONS prints the seconds that they took.

mariadb_missing() {
	for tool in mariadbd mariadb-install-db mariadb sysbench; do
		command -v $tool >/dev/null || echo $tool
	done
}

mariadb_sysbench() {
	sysbench oltp_read_only --mysql-socket="$dir/socket" --mysql-user=root --tables=2 \
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
	[ -z "${mariadb_pid:-}" ] || { kill "$mariadb_pid" && wait "$mariadb_pid"; } 2>/dev/null || true
	mariadb_pid=
}

mariadb_load() {
	mariadb_sysbench --events="$1" run | sed -n 's/.*total time: *\([0-9.]*\)s.*/\1/p'
}
