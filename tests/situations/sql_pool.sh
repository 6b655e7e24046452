# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# sql_pool.go: reports keep connections of database/sql's pool while they ask somebody else.
service_start() {
	! lacks go g++ cc || return 77
	HOME=${HOME:-$dir} GOTOOLCHAIN=local GOFLAGS=-mod=mod GO111MODULE=off \
		go build -o "$dir/stock" "$services/sql_pool.go" 2>"$dir/build.log" || return 1
	service_upstream carrier || return 1
	service_carrier=$service_port
	service_upstream store || return 1
	service_run "$dir/stock" "$service_port" "$service_carrier" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 24 -r 3 -s "$1" "$service_port" /stock /report 700; }
