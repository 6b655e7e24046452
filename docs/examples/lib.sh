# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the examples share. Each is run as NAME.sh BUILD_DIR, prints what docs/tutorial.md shows,
# checks that its cause is found, and exits 0: it is, 1: it is not, 77: cannot run here (why is printed).
# Traces and pictures stay in BUILD_DIR/demo-all/NAME.
build=${1:?usage: $0 BUILD_DIR}
build=$(cd "$build" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
name=$(basename "$0" .sh)
out=$build/demo-all/$name
PATH=$build:$PATH # so that the commands are those that anybody would type
LC_ALL=C
export PATH LC_ALL
started=''
rm -rf "$out"
mkdir -p "$out" && tmp=$(mktemp -d /var/tmp/chain-example.XXXXXX) || exit 1
clean_up() {
	for pid in $started; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$out" || exit 1

fail() {
	echo "FAIL $name: $*"
	exit 1
}
skip() {
	echo "SKIP $name: $*"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "recording needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF (/sys/kernel/btf/vmlinux)"

# needs COMMAND PACKAGE
needs() {
	command -v "$1" >/dev/null || skip "no $1 here (Debian, Ubuntu: apt-get install $2)"
}

# compile NAME: $here/NAME.c, so that no function disappears from its stacks.
compile() {
	${CC:-cc} -O1 -g -fno-inline -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wall -Wextra \
		-pthread -o "$tmp/$1" "$here/$1.c" || fail "$1.c does not compile"
	PATH=$tmp:$PATH
}

# title TEXT
title() {
	printf '\n== %s\n' "$*"
}

# show COMMAND...: prints the command as it would be typed, and its output.
show() {
	printf '\n$ %s\n' "$*"
	timeout 60 "$@" 2>"$tmp/err" || { cat "$tmp/err"; fail "$* ended with $?"; }
}

# record COMMAND...: chaincap while the command runs.
record() {
	printf '\n$ chaincap -- %s\n' "$*"
	timeout 60 chaincap -o trace.bin -- "$@" 2>"$tmp/err" || { cat "$tmp/err"; fail "not recorded"; }
	grep '^chaincap:' "$tmp/err"
}

# pictures TITLE DEPTH [CHAINWALK OPTION...]: off-CPU, off-wake and chain graph of the same waits.
pictures() {
	heading=$1 deepest=$2
	shift 2
	for depth in 0 1 "$deepest"; do
		case $depth in 0) graph=off-cpu ;; 1) graph=off-wake ;; *) graph=chain ;; esac
		chainwalk -q --depth "$depth" "$@" trace.bin >$graph.folded || fail "chainwalk --depth $depth"
		flamegraph --title "$heading" --subtitle "$graph graph (--depth $depth)" $graph.folded >$graph.svg ||
			fail "no picture"
	done
	printf '\nPictures: %s/{off-cpu,off-wake,chain}.svg\n' "$out"
}

# share REGEX FILE: percent of the folded lines' time that match it.
share() {
	REGEX=$1 awk '{ all += $NF } $0 ~ ENVIRON["REGEX"] { sum += $NF }
		END { printf "%.0f\n", all ? int(100 * sum / all) : 0 }' "$2"
}

# claim TEXT LEAST GOT: percents.
claim() {
	printf '%s: %s %%\n' "$1" "$3"
	[ "$3" -ge "$2" ] || fail "$1: at least $2 % expected, $3 % found"
}

# cured TEXT BEFORE AFTER TIMES: the smaller one must be so many times less.
cured() {
	printf '%s: %s before, %s after\n' "$1" "$2" "$3"
	awk -v a="$2" -v b="$3" -v times="$4" 'BEGIN {
		if (a > b) { more = a; less = b } else { more = b; less = a }
		exit !(less > 0 && less * times <= more) }' || fail "$1: not $4 times better"
}
