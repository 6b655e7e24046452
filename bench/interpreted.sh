#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What frames of interpreted code cost the BPF programs: how long these run for a switch and for a waking, in ns, of a
# program of Python, Ruby, Node.js or Java whose threads are DEPTH functions deep (pingpong.*), and of one that is of
# none (chainload);
# with frames of interpreted code, and without (--no-python --no-php --no-ruby --no-node --no-java). Medians of ROUNDS (5) pairs. And how many
# instructions the kernel verifies when the recorder starts, and how long that takes, with all languages, without Java,
# Node.js and Ruby, and without any: in turn, medians of STARTS (4 times ROUNDS).
#   bench/interpreted.sh BUILD_DIR [ROUNDS]
#   PROGRAMS="ruby_20 ..."   picks some
set -eu
shopt -s extglob
# shellcheck source=bench/run_time.sh
WORKLOADS=none
. "$(dirname "$0")/run_time.sh"
O=$(cd "$1" && pwd)
rounds=${2:-5}
bench=$(cd "$(dirname "$0")" && pwd)
export bench O
python() { taskset -c 0 "${PYTHON:-python3}" "$bench/pingpong.py" "$1" 20000; }
python_1() { python 1; }
python_12() { python 12; }
python_40() { python 40; }
ruby_1() { taskset -c 0 ruby "$bench/pingpong.rb" 1 20000; }
ruby_20() { taskset -c 0 ruby "$bench/pingpong.rb" 20 20000; }
# Not perf bench: perf has libpython in it, and so is a process with an interpreter.
native() { taskset -c 0 "$O/chainload" pingpong --hops pipe --work 0 --rounds 100000; }
node_1() { taskset -c 0 node "$bench/pingpong.js" 1 20000; }
node_20() { taskset -c 0 node "$bench/pingpong.js" 20 20000; }
java_1() { taskset -c 0 java -cp "$dir" Pingpong 1 100000; }
java_20() { taskset -c 0 java -cp "$dir" Pingpong 20 100000; }
java_interpreted_20() { taskset -c 0 java -Xint -cp "$dir" Pingpong 20 100000; }
export -f python python_1 python_12 python_40 ruby_1 ruby_20 node_1 node_20 java_1 java_20 java_interpreted_20 native
programs=${PROGRAMS:-python_1 python_12 python_40 ruby_1 ruby_20 node_1 node_20 java_1 java_20 java_interpreted_20 native}
if ! command -v javac >/dev/null; then
	echo "left out: Java: no javac"
	programs=${programs//java_*([a-z0-9_])/}
elif [[ $programs == *java* ]]; then
	javac -d "$dir" "$bench/Pingpong.java"
fi
run_times_on
for round in $(seq "$rounds"); do
	for w in $programs; do
		for with in yes no; do
			option=
			[ $with = yes ] || option='--no-python --no-php --no-ruby --no-node --no-java'
			# shellcheck disable=SC2086 # two options
			run_times_of "$w" "$O/chaincap" -q -F 0 $option |
				awk -v w="$w" -v with=$with '$3 && /^on_(switch|waking) / { printf "%s %s %s %.1f\n", w, with, $1, $2 / $3 }'
		done
	done
	[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v programs="$programs" "$(cat "$bench/median.awk")"'
{ all[$1 " " $3 " " $2] = all[$1 " " $3 " " $2] " " $4 }
END {
	n = split(programs, work, " ")
	printf "%-20s %-10s %8s %8s %8s\n", "ns a run", "", "with", "without", "more"
	for (i = 1; i <= n; i++)
		for (j = 1; j <= 2; j++) {
			key = work[i] " " (j == 1 ? "on_switch" : "on_waking")
			with = median(all[key " yes"])
			without = median(all[key " no"])
			printf "%-20s %-10s %8.0f %8.0f %8.0f\n", work[i], j == 1 ? "switch" : "waking", with, without, with - without
		}
}' "$dir/all"
# verified OPTION...: instructions verified for all of the recorder's programs.
verified() {
	"$O/chaincap" -q "$@" -o "$dir/trace" -- bash -c '
		cat /proc/$PPID/fdinfo/* 2>/dev/null | sed -n "s/^verified_insns:[[:space:]]*//p"' 2>/dev/null | awk '{ n += $1 } END { printf "%.0f\n", n }'
}
# begins OPTION...: us from the command line until the command that is to be recorded runs.
begins() {
	local from=${EPOCHREALTIME/./} began
	# shellcheck disable=SC2016 # of the other shell
	began=$("$O/chaincap" -q "$@" -o "$dir/trace" -- bash -c 'echo ${EPOCHREALTIME/./}' 2>/dev/null)
	echo $((began - from))
}
declare -A options=([all]='' [older]='--no-ruby --no-node --no-java' [none]='--no-python --no-php --no-ruby --no-node --no-java')
for round in $(seq "${STARTS:-$((4 * rounds))}"); do
	for which in $(rotated "$round" all older none); do
		# shellcheck disable=SC2086 # several options
		echo "$which $(begins ${options[$which]})"
	done
done >"$dir/begins"
for which in all older none; do
	# shellcheck disable=SC2086
	echo "$which verified $(verified ${options[$which]})"
done >>"$dir/begins"
awk "$(cat "$bench/median.awk")"'
$2 == "verified" { verified[$1] = $3; next }
{ us[$1] = us[$1] " " $2 }
function times(a, b) { return b ? a / b : 0 }
END {
	said["all"] = "all languages"
	said["older"] = "without Java, Node.js, Ruby"
	said["none"] = "without any"
	for (key in us)
		took[key] = median(us[key])
	printf "%-30s %12s %8s %12s %8s\n", "start", "instructions", "", "ms", ""
	for (i = split("none older all", w, " "); i; i--)
		printf "%-30s %12.0f %8.2f %12.1f %8.2f\n", said[w[i]], verified[w[i]], times(verified["all"], verified[w[i]]),
			took[w[i]] / 1000, times(took["all"], took[w[i]])
}' "$dir/begins"
