# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
service_start() { ! lacks python3 || return 77; }
service_load() { service_until_done /usr/bin/python3 "$services/gil.py" "$1" ${service_healthy:+--healthy} >"$dir/figures"; }
