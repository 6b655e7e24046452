#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an event takes in the trace, with all sources, without interrupts, and without what was waited for: bytes
# of the whole file for each switch and waking, names included, of servers under load.
#   bench/sizes.sh BUILD_DIR [SECONDS]
#   WORKLOADS="mariadb mariadb-write redis nginx"   what is not installed is left out by name
# mariadb: sysbench oltp_read_only with 8 threads, and mariadb-write oltp_write_only; redis: redis-benchmark with
# 50 clients; nginx: curl with 50 connections at a time, one for each request.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
O=$(cd "$1" && pwd)
seconds=${2:-5}
workloads=${WORKLOADS:-mariadb mariadb-write redis nginx}
dir=$(mktemp -d)
export dir
server='' load=''
# stop PID: it and what it started.
stop() {
	[ -z "$1" ] || { pkill -P "$1"; kill "$1" && wait "$1"; } 2>/dev/null || true
}
idle() {
	stop "$load"
	stop "$server"
	load='' server=''
	mariadb_stop
	rm -rf "$dir/data"
}
clean_up() {
	idle
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
port=$((20000 + $$ % 10000))

# missing PROGRAM...: those that are not installed
missing() {
	for program; do
		command -v "$program" >/dev/null || echo "$program"
	done
}
# needs_of WORKLOAD: what is missing for it
needs_of() {
	case $1 in
	mariadb*) mariadb_missing ;;
	redis) missing redis-server redis-benchmark ;;
	nginx) missing nginx curl ;;
	esac
}
busy_mariadb() {
	mariadb_start
	mariadb_busy
}
busy_redis() {
	redis-server --port "$port" --save '' --bind 127.0.0.1 --dir "$dir" >"$dir/redis.log" &
	server=$!
	sleep 1
	redis-benchmark -q -p "$port" -c 50 -l -t get,set >"$dir/redis.out" 2>&1 &
	load=$!
}
busy_nginx() {
	mkdir -p "$dir/www" "$dir/nginx"
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
			client_body_temp_path $dir/nginx; proxy_temp_path $dir/nginx; fastcgi_temp_path $dir/nginx;
			uwsgi_temp_path $dir/nginx; scgi_temp_path $dir/nginx;
			server { listen 127.0.0.1:$port; root $dir/www; }
		}
	END
	nginx -p "$dir" -c "$dir/nginx.conf" 2>"$dir/nginx.log" &
	server=$!
	sleep 1
	# More requests than there is time for.
	curl -s -o /dev/null -H 'Connection: close' -Z --parallel-max 50 "http://127.0.0.1:$port/page?[1-10000000]" 2>"$dir/curl.log" &
	load=$!
}

# figure NAME: of the trace
figure() { awk -v name="$1:" '$1 == name { print $2 }' "$dir/info"; }

printf '%-14s %-13s %9s %11s %9s %11s %6s\n' workload recorder events bytes/event objects interrupts lost
for w in $workloads; do
	need=$(needs_of "$w" | tr '\n' ' ')
	if [ "$need" ]; then
		echo "left out: $w: no $need"
		continue
	fi
	mariadb_workload=oltp_read_only
	[ "$w" != mariadb-write ] || mariadb_workload=oltp_write_only
	"busy_${w%-write}"
	sleep 1
	for option in '' --no-irq --no-objects; do
		"$O/chaincap" ${option:+"$option"} -o "$dir/trace" "$seconds" 2>"$dir/err" >"$dir/out"
		"$O/chainwalk" -q -f info "$dir/trace" >"$dir/info"
		printf '%-14s %-13s %9d %11.1f %9d %11d %6d\n' "$w" "${option:-all sources}" "$(figure events)" \
			"$(figure bytes_per_event)" "$(figure objects)" "$(figure interrupts)" "$(figure lost)"
	done
	idle
done
echo "$seconds seconds each, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
