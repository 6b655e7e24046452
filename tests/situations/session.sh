# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# session.pl: a process keeps a user's session locked while it asks a carrier.
service_start() {
	! lacks perl g++ cc || return 77
	service_upstream carrier && mkdir "$dir/sessions" || return 1
	service_run perl "$services/session.pl" "$service_port" "$dir/sessions" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 8 -t 15 -s "$1" "$service_port" '/badge/{}' /quote/5 400; }
