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

# share THREADS: counts the frames of threads with names that match, into $named $all $own_named $own (frames),
# $percent $own_percent, and $without (what has no name).
share() {
	timeout 60 "$walk" -v -U --format=events "$tmp/trace" 2>"$tmp/err" >"$tmp/events"
	expect_exit "chainwalk --format=events" 0 $?
	awk -v threads="$1" '
		/^ *[0-9]+\.[0-9]+ \[/ { counts = $4 ~ ("^" threads "/[0-9]+$"); next }
		!counts || !/^\t/ || $1 == "[cut]" { next }
		{
			file = $0
			if (!sub(/.* \(/, "", file))
				file = "nowhere)"
			sub(/\)$/, "", file)
			is_own = file !~ /^(\/usr)?\/lib/ && file !~ /^\[/
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
}

# kind NAME THREADS LEAST OWN_LEAST FRAMES_LEAST COMMAND...: records it, prints its line, and notes it in
# $poor if fewer per cent of all frames, or of its own, have a name, or there are fewer frames.
# $recorder is what runs the recorder, if anything.
recorder=''
kind() {
	name=$1 threads=$2 least=$3 own_least=$4 frames=$5
	[ "$libc_named" ] || least=0
	shift 5
	# shellcheck disable=SC2086 # words
	timeout 60 $recorder "$cap" -F 0 -o "$tmp/trace" "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "$recorder chaincap $*" 0 $?
	share "$threads"
	printf 'note: %s: named %s of %s user frames (%s %%), of its own %s of %s (%s %%)\n' "$name" \
		"$named" "$all" "$percent" "$own_named" "$own" "$own_percent"
	[ -z "$without" ] || echo "      without a name: $without" | cut -c1-200
	awk -v a="$percent" -v b="$least" -v c="$own_percent" -v d="$own_least" -v e="$all" \
		-v f="$frames" 'BEGIN { exit !(a >= b && c >= d && e >= f) }' || poor="$poor
$name: expected at least $least % of all and $own_least % of its own, of at least $frames frames"
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
