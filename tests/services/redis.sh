# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# redis under redis-benchmark. A slow one sleeps for 5 ms in each request: a client waits for those before its own, too.
service_start() {
	! lacks redis-server redis-cli redis-benchmark || return 77
	service_free_port
	redis-server --port "$service_port" ${service_slow:+--enable-debug-command local} --save '' --dir "$dir" >"$dir/redis.log" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 redis-cli -p "$service_port" ping
}
service_load() {
	service_requests=$((10000 * $1))
	[ ! "$service_slow" ] || service_requests=$((150 * $1))
	set -- -t get
	[ ! "$service_slow" ] || set -- debug sleep 0.005
	service_until_done redis-benchmark -p "$service_port" -c 8 -n "$service_requests" --precision 3 --csv "$@" \
		>"$dir/benchmark" 2>"$dir/benchmark.log" &&
		# names in the first line: test, rps, avg, min, p50, p95, p99, max, all in ms
		tr -d '"' <"$dir/benchmark" | awk -F , -v count="$service_requests" '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
			function us(name) { return $column[name "_latency_ms"] * 1000 }
			NR == 2 { printf "count %.0f\np50_us %.1f\np95_us %.1f\np99_us %.1f\nmax_us %.1f\n", count,
				us("p50"), us("p95"), us("p99"), us("max") }' >"$dir/figures"
}
