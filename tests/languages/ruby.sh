# shellcheck shell=sh disable=SC2034,SC2154 # services is the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.rb
service_start() {
	! lacks ruby cc || return 77
	ruby -rwebrick -e 1 2>/dev/null || { server_lacks='webrick (ruby-webrick)'; return 77; }
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	service_run ruby "$services/catalogue.rb"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
