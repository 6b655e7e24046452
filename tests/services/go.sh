# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# convert.go: a mutex is held while a peer, rates.c, is asked, which sometimes takes long to answer.
service_start() {
	! lacks go cc || return 77
	service_build visitors client.c client_http.c && service_build rates rates.c || return 1
	HOME=${HOME:-$dir} GOTOOLCHAIN=local GOFLAGS=-mod=mod GO111MODULE=off \
		go build -o "$dir/convert" "$services/convert.go" 2>"$dir/build.log" || return 1
	"$dir/rates" "$dir/rates.socket" "$([ "$service_healthy" ] && echo 0 || echo 120)" 2>"$dir/rates.log" &
	server_kept="$server_kept $!"
	until_there 10 test -S "$dir/rates.socket" && service_run "$dir/convert" "$dir/rates.socket"
}
service_load() {
	service_ask -s "$1" "$service_port" '/convert/1{}'
}
