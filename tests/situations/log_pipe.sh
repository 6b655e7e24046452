# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# log_pipe.rs: a log is written to a pipe, under a lock, and who reads it packs each part of it first.
service_start() {
	! lacks rustc ruby xz cc || return 77
	service_compile rust log_pipe || return 1
	mkfifo "$dir/log.pipe"
	ruby "$services/ship.rb" 1000000 <"$dir/log.pipe" >"$dir/ship.log" 2>&1 &
	server_kept="$server_kept $!"
	service_run sh -c 'exec "$0" "$@" 2>"'"$dir"'/log.pipe"' "$dir/log_pipe" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 12 -s "$1" "$service_port" '/tile/{}'; }
