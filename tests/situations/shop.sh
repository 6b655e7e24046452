# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# shop.cc: ten routes, of which some are slow for one cause each, and others as they ask the same redis. On a busy machine want
# of CPUs would be the cause of most of what is slow: server and visitors go before all others.
service_start() {
	! lacks g++ python3 redis-server redis-cli || return 77
	service_compile c++ shop || return 1
	service_free_port
	favour redis-server --port "$service_port" --bind 127.0.0.1 --save '' --dir "$dir" >"$dir/redis.log" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 redis-cli -p "$service_port" ping || return 1
	shop_redis=$service_port
	service_run favour "$dir/shop" "$shop_redis" ${service_healthy:+--healthy}
}
service_load() {
	service_until_done favour python3 "$services/shop.py" "$service_port" "$1" >"$dir/latencies_ns" 2>"$dir/client.log" &&
		service_figures 1000 "$dir/latencies_ns"
}
