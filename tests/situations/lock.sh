# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A lock is held while a journal is synced.
service_start() {
	! lacks cc || return 77
	service_build ledger ../workload/slow/ledger.c
}
service_load() { service_until_done "$dir/ledger" "$dir/journal" ${service_healthy:+--healthy} >"$dir/figures"; }
