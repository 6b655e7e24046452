#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests against the programs in the build folder $1: unit tests, fuzz inputs, end-to-end tests, the
# page's in a browser. A skipped test is named with its reason.
#   TESTS="glob..."   picks some
#   JOBS=N            as many side by side (default: two more than there are CPUs, as some of them sleep)
#   QUICK=1           no test that records, builds a package or starts a browser
#   ALL=1             also what only_all (e2e/lib.sh) leaves out, another browser, and a minute of each fuzz target
#   TIMES=1           lists in the end how many seconds of CPU time each test took, most first
#   SPEED=1           instead of all these the tests that judge how quick something is, one by one
# First those that record or measure time run one by one: they call needs_bpf or the like, or have a line "# Alone: WHY" ("/* Alone: WHY */"). The time
# that they leave to the CPUs is for what does not record, in the idle class of the scheduler. Then all others run side by
# side: the rest of what does not record, and what records, but judges only what its own threads do, however long that
# takes: it has a line "# Beside another: WHY". Browsers, compilers and the like have a lower priority than what records.
# Output is in the order of the list, whatever ends first. In the end what failed runs again, one by one, and what fails
# then once more: the load of others may have been the cause, also of a hypervisor's other guests. What fails three times has
# failed. The last lines name what failed, also the first time, and tell how much of the CPUs the hypervisor took.
set -u
LC_ALL=C
export LC_ALL

# cmocka NAME: "OK", "FAILED" or "SKIPPED", how many tests
cmocka() { grep "^\[ *$1 \] [a-zA-Z_]" "$log" | sort -u | wc -l; }

# Each of these runs one test with its output in $log, writes what the reader is to see, and leaves the
# numbers in $passed, $failed and $skipped.
run_unit() {
	if [ ! -x "$O/tests/unit/$1" ]; then
		skipped=1
		echo "SKIP $1: not built (needs cmocka)"
		return
	fi
	begin=$(date +%s)
	# Thousands of small traces: to give memory back after each takes half of the time.
	GLIBC_TUNABLES=glibc.malloc.mmap_threshold=268435456:glibc.malloc.trim_threshold=536870912 \
		timeout "$limit" "$O/tests/unit/$1" >"$log" 2>&1
	status=$?
	passed=$(cmocka OK) skipped=$(cmocka SKIPPED) failed=$(cmocka FAILED)
	if [ $status -eq 77 ]; then
		skipped=1
		echo "SKIP $1: $(tail -n 1 "$log")"
	elif [ $status -ne 0 ]; then
		[ "$failed" -gt 0 ] || failed=1
		cat "$log"
		echo "FAIL $1 (exit $status)"
	else
		echo "ok   $1: $passed tests ($(($(date +%s) - begin)) s)"
		# The reason is what the test said last.
		awk '/^\[ RUN/ { reason = "it does not say why" }
			/^\[ *SKIPPED \] [a-zA-Z_]/ { if (!told[$4]++) print "SKIP " $4 ": " reason; next }
			!/^\[/ { reason = $0 }' "$log"
	fi
}

run_replay() {
	target=${1#replay_}
	inputs=tests/fuzz/corpus/$target
	if timeout 120 "$O/tests/replay/$target" "$inputs"/* >"$log" 2>&1; then
		passed=1
		echo "ok   $1: $(find "$inputs" -type f | wc -l) inputs"
	else
		failed=1
		cat "$log"
		echo "FAIL $1"
	fi
}

# Its corpus, and new inputs for a minute.
run_fuzz() {
	if [ ! -x "$O/fuzz/$1" ]; then
		skipped=1
		echo "SKIP $1: not built (needs clang: make fuzz)"
		return
	fi
	mkdir -p "$log.new"
	if nice -n 5 timeout 900 "$O/fuzz/$1" -max_total_time=60 -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$log." \
		"$log.new" "tests/fuzz/corpus/${1#fuzz_}" >"$log" 2>&1; then
		passed=1
		echo "ok   $1: $(sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$log") inputs"
	else
		failed=1
		tail -n 60 "$log" # the input is in it, if it is short
		echo "FAIL $1"
	fi
}

# run_script FILE
run_script() {
	begin=$(date +%s)
	lower='nice -n 5'
	! grep -q -e '^needs_' -e '^# Alone: ' "$1" || lower=''
	# shellcheck disable=SC2086 # a command, or none
	$lower timeout "$limit" "$(sed -n '1s/^#! *//p' "$1")" "$1" "$O" >"$log" 2>&1
	status=$?
	name=$(basename "$1" .sh) took="$(($(date +%s) - begin)) s"
	case $status in
	0) passed=1; echo "ok   $name ($took)"; grep '^note:' "$log" ;;
	77) skipped=1; echo "SKIP $name: $(tail -n 1 "$log")" ;;
	*) failed=1; cat "$log"; echo "FAIL $name (exit $status, $took)" ;;
	esac
}
run_e2e() { run_script "tests/e2e/$1.sh"; }
run_speed() { run_script "tests/speed/$1.sh"; }

run_browser() {
	nice -n 5 timeout 1100 sh tests/browser/run.sh "$O" >"$log" 2>&1
	status=$?
	sums=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	if [ "$sums" ]; then
		# shellcheck disable=SC2086 # "N passed, N failed, N skipped"
		set -- $sums
		passed=$1 failed=$3 skipped=${5:-0}
	fi
	grep -i '^skip' "$log"
	if [ $status -ne 0 ] || [ "$failed" -ne 0 ]; then
		[ "$failed" -gt 0 ] || failed=1
		cat "$log"
		echo "FAIL browser (exit $status)"
	elif [ "$passed" -gt 0 ]; then
		echo "ok   browser: $passed tests"
	fi
}

# run.sh --one BUILD_DIR RESULTS KIND NAME: one test, for run_list below; nothing if it has run already, or if nothing is
# to begin any more.
if [ "$1" = --one ]; then
	O=$2 result=$3/$4-$5 passed=0 failed=0 skipped=0
	[ ! -e "$result.sums" ] && [ ! -e "$3/enough" ] || exit 0
	log=$result.log
	limit=900 # seconds; the longest takes 30, and some times that beside browsers
	! grep -qs __asan_init "$O/chaincap" || limit=3600
	"run_$4" "$5" >"$result.text"
	times >"$result.times" # not in a pipe, whose processes have times of their own
	awk -v name="$5" -F'[ms ]+' 'NR == 2 { printf "%.0f s: %s\n", 60 * ($1 + $3) + $2 + $4, name }' "$result.times" >"$result.cpu"
	echo "$passed $failed $skipped" >"$result.part"
	mv "$result.part" "$result.sums"
	exit
fi

O=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
results=$(mktemp -d) || exit 2
failing=$results/failing is_last=no
: >"$failing"
pool='' idle='' all_passed=0 all_failed=0 all_skipped=0 names=''
trap 'kill $pool $idle 2>/dev/null; rm -rf "$results"' EXIT
trap 'exit 130' INT TERM

# cpu_ticks: "ALL STOLEN", of all CPUs since the boot; nothing if the kernel does not say. proc_stat(5)
cpu_ticks() { awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print all, $9 }' /proc/stat; }
# taken ALL STOLEN ALL STOLEN: before and after
taken() {
	[ $# -eq 4 ] && [ "$3" -gt "$1" ] || return 0
	echo "note: the hypervisor took $((100 * ($4 - $2) / ($3 - $1))) % of the CPUs' time"
}
began=$(cpu_ticks)

# list KIND NAME...: a line "KIND NAME" for each test that is wanted.
list() {
	kind=$1
	shift
	set -f # the patterns are for names of tests, not of files
	for name; do
		for pattern in ${TESTS:-*}; do
			# shellcheck disable=SC2254 # a glob
			case $name in $pattern) echo "$kind $name"; break ;; esac
		done
	done
	set +f
}

# names_of FILE...: without folder and suffix
names_of() {
	for file; do
		file=${file##*/}
		echo "${file%.*}"
	done
}

# Those that take longest begin first, in this order, so that none of them is alone in the end.
longest='browser killed_at_steps user_stacks_servers continuous container interpreter_locks deb requests_sockets
	readers_attacked requests_servers least_privilege requests_truth_languages light readers_hang context_threads samples
	user_stacks_known samples_perf retried pid_namespace flight_output lock_holders light_every flight_request unwind_memory
	flight_memory cgroups attribute_oracle several_threads many_things elf_minidebug export_trace_processor static'

# start_pool JOBS LIST [COMMAND...]: runs what the file LIST lists, each by that command, in the background: $!
start_pool() {
	jobs_at_once=$1 listed=$2
	shift 2
	{ for name in $longest; do grep " $name\$" "$listed"; done; cat "$listed"; } | awk '!seen[$0]++' |
		xargs -r -P "$jobs_at_once" -n 2 "$@" sh tests/run.sh --one "$O" "$results" &
}

# run_list JOBS LIST: runs what the file LIST lists, and shows each in the order of the list as soon as it and those
# before it are done. What fails is not counted, but listed in $failing, unless $is_last.
run_list() {
	[ -s "$2" ] || return
	start_pool "$1" "$2"
	pool=$!
	while read -r kind name; do
		until [ -e "$results/$kind-$name.sums" ]; do
			kill -0 $pool 2>/dev/null || exit 2
			sleep 0.5
		done
		read -r passed failed skipped <"$results/$kind-$name.sums"
		cat "$results/$kind-$name.text"
		[ "$failed" -eq 0 ] || echo "$kind $name" >>"$results/failures"
		if [ "$failed" -gt 0 ] && [ $is_last = no ]; then
			echo "$kind $name" >>"$failing"
			[ -e "$results/$name.first" ] || tail -n 40 "$results/$kind-$name.text" >"$results/$name.first"
			rm "$results/$kind-$name.sums"
			continue
		fi
		all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed)) all_skipped=$((all_skipped + skipped))
		[ "$failed" -eq 0 ] || names="$names $name"
	done <"$2"
	wait $pool
	pool=''
}

# shellcheck disable=SC2046 # names have no spaces
{
	list unit $(names_of $(grep -l -e cmocka_run_group_tests -e '"test.h"' $(grep -L '^/[*] Alone: ' tests/unit/*.c)))
	list replay $(names_of "$O"/tests/replay/* | sed 's/^/replay_/')
	[ -z "${ALL:-}" ] || list fuzz $(names_of tests/fuzz/fuzz_*.c)
	list e2e $(names_of $(grep -L -e '^needs_' -e '^# Alone: ' tests/e2e/*.sh) | grep -vx lib)
	list browser browser
} >"$results/side_by_side"
# shellcheck disable=SC2046
list e2e $(names_of $(grep -l '^# Beside another: ' tests/e2e/*.sh)) >"$results/beside"
# shellcheck disable=SC2046
{
	list unit $(names_of $(grep -l '^/[*] Alone: ' tests/unit/*.c))
	list e2e $(names_of $(grep -l -e '^needs_' -e '^# Alone: ' tests/e2e/*.sh)) | grep -vx 'e2e lib'
} | grep -vxF -f "$results/beside" >"$results/alone"
# shellcheck disable=SC2046
{
	list speed $(names_of tests/speed/*.sh)
	list browser browser
} >"$results/speed"
jobs=${JOBS:-$(($(nproc) + 2))}
if [ "${SPEED:-}" ]; then
	run_list 1 "$results/speed"
elif [ "${QUICK:-}" ]; then
	grep '^unit ' "$results/alone" | cat "$results/side_by_side" - |
		grep -vx -e 'browser .*' -e 'e2e install_.*' >"$results/quick"
	run_list "$jobs" "$results/quick"
else
	# Browsers wait for each other, and not for long.
	grep -vx 'browser .*' "$results/side_by_side" >"$results/idle"
	start_pool "$(nproc)" "$results/idle" chrt -i 0
	idle=$!
	run_list 1 "$results/alone"
	touch "$results/enough"
	wait $idle
	idle=
	rm "$results/enough"
	cat "$results/beside" >>"$results/side_by_side"
	run_list "$jobs" "$results/side_by_side"
fi
for again in second last; do
	[ -s "$failing" ] || break
	mv "$failing" "$results/again"
	: >"$failing"
	[ $again = second ] || is_last=yes
	run_list 1 "$results/again"
done
[ ! -e "$results/failures" ] || sort "$results/failures" | uniq -c | while read -r times kind name; do
	echo "note: $name failed $times time$([ "$times" -eq 1 ] || echo s), first: $(cat "$results/$name.first")"
done
# shellcheck disable=SC2046,SC2086 # numbers
taken $began $(cpu_ticks)

[ -z "${TIMES:-}" ] || sort -rn "$results"/*.cpu
[ $all_failed -eq 0 ] || echo "failed:$names"
echo "$all_passed passed, $all_failed failed, $all_skipped skipped"
[ $all_failed -eq 0 ] && [ $all_passed -gt 0 ]
