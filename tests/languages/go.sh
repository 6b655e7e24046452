# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.go, stripped.
service_start() {
	! lacks go cc || return 77
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	HOME=${HOME:-$dir} GOTOOLCHAIN=local GOFLAGS=-mod=mod GO111MODULE=off \
		go build -ldflags -s -o "$dir/catalogue" "$services/catalogue.go" 2>"$dir/build.log" || return 1
	service_run "$dir/catalogue"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
