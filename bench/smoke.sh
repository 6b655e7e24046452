#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether every bench still runs and prints figures: each with its smallest sizes, one after the other. What they print
# then says nothing about speed.
#   bench/smoke.sh BUILD_DIR [BENCH...]     BENCH: names without .sh, all if left out
# A line for each: its name, seconds, lines with figures. What is not installed is left out by name. Exits 1 if a bench
# fails, takes more than LIMIT (400) seconds, prints no figure or one that is not a number, or is not in the list below.
set -u
export LC_ALL=C
O=$(cd "$1" && pwd)
shift
here=$(dirname "$0")
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-smoke.XXXXXX")
clean_up() { rm -rf "$dir"; }
# shellcheck source=bench/begin.sh
. "$here/begin.sh"
failed=0

fails() {
	printf '%-12s FAILS: %s\n' "$name" "$1"
	tail -n 5 "$dir/$name.out" "$dir/$name.err"
	failed=1
}

# bench NAME TOOLS [VARIABLE=VALUE...] -- [ARGUMENT...]: TOOLS are commands that it needs, by commas, or "-".
bench() {
	name=$1 tools=$2 settings=()
	shift 2
	listed="$listed $name "
	case " $chosen " in '  ' | *" $name "*) ;; *) return ;; esac
	while [ "$1" != -- ]; do settings+=("$1"); shift; done
	shift
	for tool in ${tools//,/ }; do
		[ "$tool" = - ] || command -v "$tool" >/dev/null || { printf '%-12s left out: no %s\n' "$name" "$tool"; return; }
	done
	SECONDS=0
	env "${settings[@]}" timeout -s INT -k 20 "${LIMIT:-400}" bash "$here/$name.sh" "$@" >"$dir/$name.out" 2>"$dir/$name.err"
	rc=$? figures=$(grep -c '[0-9]' "$dir/$name.out")
	if [ $rc != 0 ]; then
		fails "exit status $rc after $SECONDS s"
	elif grep -qiwE 'nan|-nan|inf|-inf' "$dir/$name.out"; then
		fails "what it prints is not a number"
	elif grep -qE 'line [0-9]+:|: not found|^Error|rror: ' "$dir/$name.err"; then
		fails "a command in it fails"
	elif [ "$figures" -lt 1 ]; then
		fails "no figures"
	else
		printf '%-12s %3d s, %3d lines with figures\n' "$name" $SECONDS "$figures"
	fi
}

chosen=$* listed=
bench alternate bpftool,redis-server WORKLOAD=redis WINDOW=0.1 SETTLE=0.05 RECORDERS=chaincap -- "$O" 2
bench engine perf MILLIONS=0.1 -- "$O" 1
bench every - ROUNDS=1 -- "$O" 11 --every=5s --for=1s --keep=64M
bench exports - MILLIONS=0.1 -- "$O" 1
bench fleet sqlite3 -- "$O" "$here/../tests/data/shop.bin" 20000
bench flight perf -- "$O" 1 1
bench hours cc -- "$O" 20
bench import perf -- "$O" 1
bench interpreted python3,ruby,javac,perf STARTS=1 PROGRAMS="python_12 ruby_20 java_20 native" -- "$O" 1
bench changing javac -- "$O" 1 2
bench languages node,java WINDOW=1 -- 1
bench light bpftool WORKLOADS="pipe echo idle" WINDOW=0.1 SETTLE=0.05 -- "$O" 2
bench many - FORMATS="folded rows" KINDS="names" -- "$O" 10000 20
bench overhead perf WORKLOADS=pipe RECORDERS="chaincap perf" LOOPS=5000 -- "$O" 1
bench paths python3,php -- "$O" 3
bench picture sysbench,perf WINDOW=1 -- "$O" 1
bench programs perf WORKLOADS=pipe -- 1 "$O"
bench render python3 -- "$O" 10000
bench requests bpftool,redis-server WORKLOADS=redis WINDOW=1 -- "$O" 0
bench sizes redis-server WORKLOADS=redis -- "$O" 1
bench sources perf WORKLOADS=pipe -- "$O" 1
bench stacks eu-stack,perf,offcputime PROGRAMS=chainload -- "$O"
bench start - LOADS=idle RECORDERS=chaincap -- "$O" 1
bench streams bpftool,redis-server CLIENTS=1 WINDOW=0.1 -- "$O" 2
bench tls nginx,ab,openssl,curl,python3 WINDOW=1 -- "$O" 1
bench verify perf -- "$O" 10000

# All others are sourced by these, draw pictures of the documents, or have a test of their own.
for file in "$here"/*.sh; do
	name=$(basename "$file" .sh)
	case "$listed begin loads mariadb run_time switch smoke database_pictures hostile " in
	*" $name "*) ;;
	*) printf '%-12s FAILS: not in the list of %s\n' "$name" "$0"; failed=1 ;;
	esac
done
exit $failed
