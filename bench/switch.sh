# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2034,SC2154 # for who sources it, with $dir
# Switches chaincap on and off while it runs, to measure in turns that are short. To be sourced.

# map_of PID: the id of the map of variables of this chaincap
map_of() {
	sed -n 's/^map_id:[[:space:]]*//p' "/proc/$1"/fdinfo/* >"$dir/maps" 2>"$dir/ended"
	bpftool map list | awk -F : 'NR == FNR { own[$1]; next } /name chaincap.data/ && $1 in own { print $1 }' "$dir/maps" -
}

# The times from and until which chaincap's programs record, 8 bytes each.
switched_off='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
switched_on='0 0 0 0 0 0 0 0 255 255 255 255 255 255 255 255'

# switch_chaincap MAP BYTES: one of these; the map's other variables stay. Fails if the map does not take it.
switch_chaincap() {
	# Where the two variables are is what the map's own types say.
	if [ "${switch_map:-}" != "$1" ]; then
		switch_map=$1
		switch_at=$(bpftool btf dump id "$(bpftool map show id "$1" | sed -n 's/.*btf_id \([0-9]*\).*/\1/p')" |
			sed -n "/DATASEC '.data'/,/DATASEC '.ksyms'/s/.* offset=\([0-9]*\) size=8 (VAR 'record_\(from\|until\)_ns')/\1/p")
		[ "$(echo "$switch_at" | wc -w)" = 2 ] || { echo "bench: map $1 has no times of a recording" >&2; return 1; }
	fi
	# shellcheck disable=SC2046,SC2086 # bytes
	bpftool map update id "$1" key 0 0 0 0 value $(bpftool -j map lookup id "$1" key 0 0 0 0 | tr -d '\n' |
		sed 's/.*"value":\[\([^]]*\)\].*/\1/' | tr -d '"' | tr , '\n' |
		awk -v at="$(echo $switch_at)" -v new="$2" '{ byte[NR - 1] = $1 }
		END { split(at, from, " "); split(new, with, " ")
			for (i = 0; i < 16; i++) byte[from[i < 8 ? 1 : 2] + i % 8] = with[i + 1]
			for (i = 0; i < NR; i++) print byte[i] }')
}
