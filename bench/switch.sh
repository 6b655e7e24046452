# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2034,SC2154 # for who sources it, with $dir
# Switches chaincap on and off while it runs, to measure in turns that are short. To be sourced.

# map_of PID: the id of the map of variables of this chaincap
map_of() {
	sed -n 's/^map_id:[[:space:]]*//p' "/proc/$1"/fdinfo/* >"$dir/maps"
	bpftool map list | awk -F : 'NR == FNR { own[$1]; next } /name chaincap.data/ && $1 in own { print $1 }' "$dir/maps" -
}

# What chaincap's programs know of the recording is the times from and until which it goes, 8 bytes each.
switched_off='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
switched_on='0 0 0 0 0 0 0 0 255 255 255 255 255 255 255 255'

# switch_chaincap MAP BYTES: one of these
switch_chaincap() {
	# shellcheck disable=SC2086 # bytes
	bpftool map update id "$1" key 0 0 0 0 value $2
}
