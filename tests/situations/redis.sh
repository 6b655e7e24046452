# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# redis syncs its log before each answer.
service_start() {
	! lacks redis-server redis-cli redis-benchmark || return 77
	service_free_port
	redis-server --port "$service_port" --save '' --dir "$dir" --appendonly yes \
		--appendfsync "$([ "$service_healthy" ] && echo no || echo always)" >"$dir/redis.log" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 redis-cli -p "$service_port" ping
}
service_load() {
	service_until_done redis-benchmark -p "$service_port" -c 8 -n $((6000 * $1)) -t set >"$dir/figures" 2>&1
}
