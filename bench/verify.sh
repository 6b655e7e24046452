#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Are stacks that are known without a walk what a walk finds? chaincap --verify walks them plainly as well
# and compares, on mixed load, again and again until so many kernel stacks have been compared:
#   bench/verify.sh BUILD_DIR [STACKS]        (10000000 if left out, which takes some minutes)
# The load: pipe and messaging, MariaDB, a fork storm, TCP over loopback, timers, a disk read and written,
# libraries that take each other's place.
# What is not installed is left out by name. Exit 1 if any stack differs.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
wanted=${2:-10000000}
. "$(dirname "$0")/mariadb.sh"
load=$O/chainload
dir=$(mktemp -d)
export dir load
recorder=
clean_up() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
	mariadb_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"

pipe() { taskset -c 0 perf bench --format simple sched pipe -l 100000; }
messaging() { perf bench --format simple sched messaging -g 10 -l 300; }
mariadb() { mariadb_load 2000; }
forks() { for _ in $(seq 400); do /bin/true & [ $((++n % 8)) -ne 0 ] || wait; done; wait; }
tcp() { "$load" pingpong --hops tcp --work 0 --rounds 40000 --seconds 20; }
timers() { "$load" bystander --rounds 300 --sleep 1000; "$load" timeout --rounds 20; }
disk() { "$load" diskio --dir "$dir" --rounds 300 --seconds 5; "$load" diskio --sync --dir "$dir" --rounds 100 --seconds 5; }
libraries() { "$dir/libraries" "$dir" 200 100 10000 "$dir"/plugin[0-3].so; }
export -f pipe messaging mariadb forks tcp timers disk libraries mariadb_load mariadb_sysbench
n=0
export n

loads="forks tcp timers disk"
sources=$(cd "$(dirname "$0")/../tests/stacks" && pwd)
if command -v "${CC:-cc}" >/dev/null; then
	"${CC:-cc}" -O2 -o "$dir/libraries" "$sources/libraries.c"
	for way in 0 1 2 3; do
		"${CC:-cc}" -O2 -fPIC -shared -fomit-frame-pointer -DWAY=$way -o "$dir/plugin$way.so" "$sources/plugin.c"
	done
	loads="$loads libraries"
else
	echo "left out: libraries: no C compiler"
fi
if command -v perf >/dev/null; then loads="pipe messaging $loads"; else echo "left out: pipe, messaging: no perf"; fi
if [ -z "$(mariadb_missing)" ]; then
	mariadb_start
	loads="mariadb $loads"
else
	echo "left out: MariaDB: no $(mariadb_missing | tr '\n' ' ')"
fi
# By twos, so that each meets another one's interrupts and preemption.
cat >"$dir/mixed" <<END
set -- $loads
while [ \$# -gt 0 ]; do
	\$1 &
	[ \$# -lt 2 ] || { shift; \$1 & }
	shift
	wait
done
END

kernel=0 kernel_differ=0 user=0 user_differ=0 user_none=0 known=0 walked=0 events=0 round=0
begin=$(date +%s)
while [ $kernel -lt "$wanted" ]; do
	round=$((round + 1))
	timeout 300 "$O/chaincap" --verify -v -o "$dir/trace" -- bash "$dir/mixed" >"$dir/out" 2>"$dir/err" &
	recorder=$!
	wait $recorder || { cat "$dir/err" >&2; exit 1; }
	recorder=
	read -r a b c d e < <(sed -n 's/^chaincap: verified: //p' "$dir/err" | tr -cs '0-9\n' ' ')
	kernel=$((kernel + a)) kernel_differ=$((kernel_differ + b)) user=$((user + c)) user_differ=$((user_differ + d))
	user_none=$((user_none + e))
	[ "$d" -eq 0 ] || sed -n '/a stack differs/,/^chaincap: [0-9]* events/p' "$dir/err" >&2
	read -r a b _ < <(sed -n 's/^chaincap: kernel stacks: //p' "$dir/err" | tr -cs '0-9\n' ' ')
	known=$((known + a)) walked=$((walked + b))
	events=$((events + $(sed -n 's/^chaincap: \([0-9]*\) events.*/\1/p' "$dir/err")))
	[ ! -t 2 ] || printf '\rround %d: %d of %d' $round $kernel "$wanted" >&2
done
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "load: $loads; $round recordings, $events events, $(($(date +%s) - begin)) s, kernel $(uname -r), $(date +%F)"
echo "kernel stacks compared: $kernel, mismatches: $kernel_differ"
echo "user stacks compared:   $user, mismatches: $user_differ; could not be compared: $user_none"
echo "kernel stacks known without a walk: $known, walked: $walked"
[ $kernel_differ -eq 0 ] && [ $user_differ -eq 0 ]
