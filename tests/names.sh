# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2034 # what tests/e2e/lib.sh has
# How many user frames have a name, for each kind of program and process, as a table:
#   kind: named N of M user frames (P %), of the program's own N of M (P %)
# A frame counts as often as it stands in a stack of an event. The program (names_load) has three exported
# and three local functions in each stack. Its own frames must all have names, except where there are none:
#   - stripped to .dynsym: the local ones, half of them;
#   - of the C library and its loader only what they export, unless their debug files are installed. How many
#     of their frames there are depends on how busy the machine is, so that no share of them is expected then.
# Sourced after lib.sh; a test ends with expect_names.
names_load=$build/names_load
poor=''

# debug_path FILE: of its debug file by build ID, below /usr/lib/debug/.build-id
debug_path() {
	id=$(readelf -n "$1" | awk '/Build ID:/ { print $3 }')
	rest=${id#??}
	echo "${id%"$rest"}/$rest.debug"
}
libc=$(ldconfig -p | awk '$1 == "libc.so.6" { print $NF; exit }')
libc_named=''
[ ! -e "/usr/lib/debug/.build-id/$(debug_path "$libc")" ] || libc_named=yes

# judge_kind NAME THREADS LEAST OWN_LEAST FRAMES_LEAST: counts the frames of threads with names that match in
# $tmp/events, prints the kind's line, and notes it in $poor if fewer per cent of all frames, or of its own, have a
# name, or there are fewer frames.
judge_kind() {
	[ "$libc_named" ] || set -- "$1" "$2" 0 "$4" "$5"
	awk -v threads="$2" '
		/^ *[0-9]+\.[0-9]+ \[/ { counts = $4 ~ ("^" threads "/[0-9]+$"); next }
		!counts || !/^\t/ || $1 == "[cut]" { next }
		{
			file = $0
			if (!sub(/.* \(/, "", file))
				file = "nowhere)"
			sub(/\)$/, "", file)
			is_own = file !~ /\/lib(64)?\// && file !~ /^\[/
			is_named = $1 != "[unknown]" && $2 != "[unknown]" && $2 !~ /^\[.*\+0x[0-9a-f]+\]/
			all++; named += is_named; own += is_own; own_named += is_own && is_named
			if (!is_named)
				without[file]++
		}
		END {
			printf "%.0f %.0f %.0f %.0f %.1f %.1f ", named, all, own_named, own,
				all ? 100 * named / all : 0, own ? 100 * own_named / own : 0
			for (file in without)
				printf " %.0f in %s", without[file], file
			print ""
		}' "$tmp/events" >"$tmp/share"
	read -r named all own_named own percent own_percent without <"$tmp/share"
	printf 'note: %s: named %s of %s user frames (%s %%), of its own %s of %s (%s %%)\n' "$1" \
		"$named" "$all" "$percent" "$own_named" "$own" "$own_percent"
	[ -z "$without" ] || echo "      without a name: $without" | cut -c1-200
	awk -v a="$percent" -v b="$3" -v c="$own_percent" -v d="$4" -v e="$all" \
		-v f="$5" 'BEGIN { exit !(a >= b && c >= d && e >= f) }' || poor="$poor
$1: expected at least $3 % of all and $4 % of its own, of at least $5 frames"
}

# record_programs COMMAND...: the recorder, with options or what runs it before it and what it records behind it;
# leaves $tmp/events.
record_programs() {
	timeout 300 "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "$*" 0 $?
	timeout 300 "$walk" -v -U --format=events "$tmp/trace" 2>"$tmp/err" >"$tmp/events"
	expect_exit "chainwalk --format=events" 0 $?
}

# a_program NAME: a copy that is known by that name.
a_program() {
	cp "$names_load" "$tmp/$1"
}

cannot() {
	echo "note: $1: cannot run here: $2"
}

# make_container: a root directory of its own with copies of the program, in new mount and PID namespaces: $contain
# runs a command in it. Fails where there are no namespaces.
root=$tmp/root
contain="unshare -mpf --propagation unchanged chroot $root"
make_container() {
	unshare -mpf --propagation unchanged true 2>/dev/null || return 1
	mkdir -p "$root/tmp"
	ldd "$names_load" | grep -o '/[^ ]*' | while read -r library; do
		cp -L --parents "$library" "$root"
	done
	for program; do
		cp "$names_load" "$root/$program"
	done
}

expect_names() {
	[ -z "$poor" ] || fail "too few names:$poor"
}
