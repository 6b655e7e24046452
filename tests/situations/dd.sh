# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# dd writes each block through to the disk.
service_start() { ! lacks dd || return 77; }
service_load() {
	set -- bs=64k count=$((1000 * $1))
	[ "$service_healthy" ] || set -- "$@" oflag=dsync
	service_until_done dd if=/dev/zero of="$dir/copy" "$@" 2>"$dir/figures"
}
