# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2034,SC2154 # dir is, and the counts are for, who sources this
# Servers of one's own that programs of this machine keep busy, and how much they have done by their own count;
# to be sourced. Wants $dir, an empty folder, exported.
#
#   mariadb    sysbench oltp_read_only, 8 threads; mariadb-write: oltp_write_only
#   redis      redis-benchmark, GET by 50 clients, or $load_clients; at $load_address, where $load_there, words before a
#              command, starts the server
#   pgbench    PostgreSQL under pgbench -S, 8 clients, 2 threads
#   nginx      a static file of 4 kB by ab, 8 connections that stay; nginx-close: by curl, 50 at a time, one for
#              each request
#
#   load_missing NAME   what is not installed for it
#   load_start NAME     the server and its data; load_stop ends all
#   load_busy           the load goes on from here; load_idle ends it
#   load_count          leaves in $count what the server counts ($load_unit), as of $count_us
#   load_rates          of lines "NAME FROM_US FROM TO_US TO", counts and when they were, to lines "NAME RATE":
#                       a second
# shellcheck source=bench/mariadb.sh
. "$(dirname "${BASH_SOURCE[0]}")/mariadb.sh"
load='' load_pids='' load_client='' load_asks='' load_unit=''
load_port=$((20000 + $$ % 10000)) load_address=127.0.0.1 load_clients=50 load_there=''

load_missing() {
	local program
	case $1 in
	mariadb*) mariadb_missing; return ;;
	redis) set -- redis-server redis-benchmark ;;
	pgbench) set -- pgbench su "$(load_postgresql)/initdb" ;;
	nginx) set -- nginx ab ;;
	nginx-close) set -- nginx curl ;;
	pipe | echo) set -- perl ;;
	idle) return ;;
	*) set -- "$1" ;;
	esac
	for program; do command -v "$program" >/dev/null || echo "$program"; done
}

load_postgresql() { find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1; }

# load_until COMMAND...: for 30 s at most
load_until() {
	for _ in $(seq 300); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "bench: not within 30 s: $*" >&2
	exit 1
}
load_answers() { (: <>"/dev/tcp/$load_address/$load_port") 2>/dev/null; }

load_start() {
	load=$1
	case $load in
	mariadb*)
		load_unit=queries mariadb_workload=oltp_read_only
		[ "$load" != mariadb-write ] || mariadb_workload=oltp_write_only
		mariadb_start
		;;
	redis)
		load_unit=commands
		# shellcheck disable=SC2086 # words
		$load_there redis-server --port "$load_port" --save '' --bind "$load_address" --protected-mode no --dir "$dir" >"$dir/redis.log" &
		load_pids=$!
		load_until load_answers
		;;
	pgbench) load_unit=transactions && load_start_pgbench ;;
	nginx*) load_unit=requests && load_start_nginx ;;
	pipe | echo) load_unit=rounds ;;
	idle) load_unit=things ;;
	esac
}

# load_rounds pipe|echo: its reads are the rounds
load_rounds() {
	# shellcheck disable=SC2016 # perl's
	exec perl -MIO::Socket -e '
		if ($ARGV[0] eq "pipe") {
			pipe $near_in, $far_out and pipe $far_in, $near_out or die;
		} else {
			$listens = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
			$near_in = $near_out = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $listens->sockport) or die;
			$far_in = $far_out = $listens->accept;
		}
		if (fork) {
			close $_ for $far_in, $far_out;
			syswrite $near_out, "x" while sysread $near_in, $byte, 1;
		}
		close $_ for $near_in, $near_out;
		do { syswrite $far_out, "x" } while sysread $far_in, $byte, 1' "$1"
}

load_start_pgbench() {
	local bin
	bin=$(load_postgresql)
	mkdir "$dir/postgresql"
	chmod 755 "$dir"
	chown postgres "$dir/postgresql"
	su postgres -c "$bin/initdb --no-sync -D $dir/postgresql/data" >"$dir/postgresql.log" 2>&1
	su postgres -c "exec $bin/postgres -D $dir/postgresql/data -k $dir/postgresql -h '' -c autovacuum=off" \
		>>"$dir/postgresql.log" 2>&1 &
	load_pids=$!
	load_until test -S "$dir/postgresql/.s.PGSQL.5432"
	load_until load_pgbench -i -q -s 2
}
load_pgbench() { ${how:-} pgbench -h "$dir/postgresql" -U postgres "$@" postgres; }

load_start_nginx() {
	mkdir "$dir/www" "$dir/nginx"
	chmod 755 "$dir" "$dir/www"
	head -c 4000 /dev/zero >"$dir/www/page"
	cat >"$dir/nginx.conf" <<-END
		daemon off;
		worker_processes 2;
		pid $dir/nginx.pid;
		error_log $dir/nginx.log;
		events { worker_connections 256; }
		http {
			access_log off;
			keepalive_requests 2000000000;
			client_body_temp_path $dir/nginx; proxy_temp_path $dir/nginx; fastcgi_temp_path $dir/nginx;
			uwsgi_temp_path $dir/nginx; scgi_temp_path $dir/nginx;
			server { listen 127.0.0.1:$load_port; root $dir/www; location /count { stub_status; } }
		}
	END
	nginx -p "$dir" -c "$dir/nginx.conf" 2>"$dir/nginx.log" &
	load_pids=$!
	load_until load_answers
}

load_busy() {
	# More than there is time for.
	case $load in
	mariadb*) mariadb_busy ;;
	redis) redis-benchmark -q -h "$load_address" -p "$load_port" -c "$load_clients" -n 2000000000 -t get >"$dir/redis.out" 2>&1 & ;;
	pgbench)
		rm -f "$dir"/transactions.*
		how='exec' load_pgbench -n -S -c 8 -j 2 -T 86400 -l --log-prefix="$dir/transactions" >"$dir/pgbench.out" 2>&1 &
		;;
	nginx) ab -q -k -c 8 -n 50000000 "http://127.0.0.1:$load_port/page" >"$dir/ab.out" 2>&1 & ;;
	nginx-close)
		curl -s -o /dev/null -H 'Connection: close' -Z --parallel-max 50 \
			"http://127.0.0.1:$load_port/page?[1-10000000]" >"$dir/curl.out" 2>&1 &
		;;
	pipe | echo) load_rounds "$load" & ;;
	idle) sleep 86400 & ;;
	esac
	case $load in
	mariadb*) coproc load_asked { exec mariadb --no-defaults -u root -S "$dir/socket" --batch --skip-column-names --unbuffered; } ;;
	*)
		load_client=$!
		[[ $load != redis && $load != nginx* ]] || exec {load_asks}<>"/dev/tcp/$load_address/$load_port"
		sleep 2 # warm up
		;;
	esac
}

load_count() {
	local line
	case $load in
	mariadb*)
		echo "show global status like 'Questions';" >&"${load_asked[1]}"
		read -r _ count <&"${load_asked[0]}"
		;;
	redis)
		printf 'INFO stats\r\n' >&"$load_asks"
		until [ "${line:-}" = $'\r' ]; do
			IFS= read -r line <&"$load_asks"
			[[ $line != total_commands_processed:* ]] || count=${line//[!0-9]/}
		done
		;;
	pipe | echo) count=$(sed -n 's/^syscr: //p' "/proc/$load_client/io") ;;
	idle) count=0 ;;
	pgbench) count=0 ;; # each transaction is in the log of pgbench: PostgreSQL adds its own counts up once a second
	nginx*)
		printf 'GET /count HTTP/1.1\r\nHost: x\r\n\r\n' >&"$load_asks"
		until [[ ${line:-} == Reading:* ]]; do
			[ "${line:-}" != 'server accepts handled requests' ] || read -r _ _ count <&"$load_asks"
			IFS= read -r line <&"$load_asks"
		done
		;;
	esac
	count_us=${EPOCHREALTIME/./}
}

load_rates() {
	[ "$load" = pgbench ] || { awk '{ printf "%s %.1f\n", $1, ($5 - $3) * 1000000 / ($4 - $2) }'; return; }
	# The windows are in the order of time, and so are the transactions of each log.
	awk '
		NR == FNR { n = NR; name[n] = $1; from[n] = $2; to[n] = $4; next }
		FNR == 1 { at = 1 }
		{
			us = $5 * 1000000 + $6
			while (at <= n && us >= to[at]) at++
			if (at > n) nextfile
			if (us >= from[at]) done[at]++
		}
		END { for (i = 1; i <= n; i++) printf "%s %.1f\n", name[i], done[i] * 1000000 / (to[i] - from[i]) }' - "$dir"/transactions.*
}

load_idle() {
	local pid
	case $load in
	mariadb*)
		if [ "${load_asked_PID:-}" ]; then kill "$load_asked_PID" && wait "$load_asked_PID"; fi 2>/dev/null || true
		mariadb_idle
		;;
	esac
	[ -z "$load_asks" ] || exec {load_asks}>&-
	if [ "$load_client" ]; then kill "$load_client" && wait "$load_client"; fi 2>/dev/null || true
	load_asks='' load_client=''
}

load_stop() {
	local pid
	load_idle
	mariadb_stop
	# Of a server in a shell of su: it too.
	for pid in $(pgrep -P "${load_pids:-0}") $load_pids; do kill "$pid" && wait "$pid"; done 2>/dev/null || true
	rm -rf "$dir/data" "$dir/postgresql" "$dir/www" "$dir/nginx" "$dir"/transactions.*
	load='' load_pids=''
}
