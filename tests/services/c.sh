# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.c: asks a redis which somebody else, too, asks now and then: for all keys like a pattern.
service_redis() {
	redis-cli -s "$dir/redis/socket" "$@" >>"$dir/redis.log" 2>&1
}
service_start() {
	! lacks redis-server redis-cli cc || return 77
	service_build visitors client.c client_http.c && service_build catalogue catalogue.c || return 1
	server_unused=yes server_start redis && service_redis config set save '' &&
		service_redis eval "for i = 0, 200000 do redis.call('set', 'item:' .. i, 'thing ' .. i) end" 0 || return 1
	[ "$service_healthy" ] || {
		redis-cli -s "$dir/redis/socket" -r 1000000 -i 0.6 keys 'item:*:sold' >/dev/null 2>&1 &
		server_kept="$server_kept $!"
	}
	service_run "$dir/catalogue" "$dir/redis/socket"
}
service_load() {
	service_ask -s "$1" "$service_port" '/item:{}'
}
