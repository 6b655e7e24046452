# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# To be sourced by what measures how long the recorder's BPF programs run, by the kernel's own measure
# (BPF_ENABLE_STATS, which costs some 40 ns a run itself): steadier than what a whole workload loses, on a
# machine that others use too. Workloads as in overhead.sh: $workloads, or
# WORKLOADS of the environment. $dir is removed in the end.
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
dir=$(mktemp -d)
export dir
clean_up() {
	run_times_off
	mariadb_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"

workloads=${WORKLOADS:-pipe messaging mariadb}
pipe() { taskset -c 0 perf bench --format simple sched pipe -l 100000; }
messaging() { perf bench --format simple sched messaging -g 10 -l 300; }
mariadb() { mariadb_load 3000; }

# run_times_on, run_times_off: whether the kernel measures. It does so for as long as a descriptor from bpf(2) is open, so
# nothing is left behind, however this ends.
run_times=
run_times_on() {
	local call=280 # of all younger architectures
	[ "$(uname -m)" != x86_64 ] || call=321
	# shellcheck disable=SC2016 # perl's
	perl -e '$| = 1; my $attr = pack("L", 0); syscall($ARGV[0] + 0, 32, $attr, 4) < 0 and die "bpf: $!\n"; print "on\n"; sleep 1 while getppid() == $ARGV[1]' \
		$call $$ >"$dir/run_times" &
	run_times=$!
	until [ -s "$dir/run_times" ]; do
		kill -0 $run_times 2>/dev/null || { echo "bench: the kernel does not measure BPF programs" >&2; exit 1; }
		sleep 0.1
	done
}
run_times_off() {
	if [ "$run_times" ]; then kill "$run_times" && wait "$run_times"; fi 2>/dev/null || true
	run_times=
}

# program_times PID: a line "PROGRAM NS RUNS" for each BPF program of this recorder, up to now: others may be
# recording, too.
program_times() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' >"$dir/ids"
	bpftool prog show -j | tr '}' '\n' |
		sed -n 's/.*"id":\([0-9]*\),.*"name":"\(on_[a-z_]*\)".*"run_time_ns":\([0-9]*\),"run_cnt":\([0-9]*\).*/\1 \2 \3 \4/p' |
		awk 'NR == FNR { own[$1]; next } $1 in own { print $2, $3, $4 }' "$dir/ids" -
}
# run WORKLOAD: how long it took, in us, and then the programs of the recorder, which is the parent.
run() {
	local from=${EPOCHREALTIME/./}
	"$1" >/dev/null
	echo $((${EPOCHREALTIME/./} - from)) >"$dir/us"
	program_times $PPID >"$dir/programs"
}
export -f pipe messaging mariadb run program_times mariadb_load mariadb_sysbench

# run_times_of WORKLOAD CHAINCAP [OPTION...]: records the workload, and prints its program_times; what the
# recorder said is in $dir/err, how long the workload took in $dir/us.
run_times_of() {
	local workload=$1
	shift
	"$@" -o "$dir/trace" -- bash -c "run $workload" >/dev/null 2>"$dir/err"
	cat "$dir/programs"
}

# start_workloads: takes those out of $workloads that cannot run here, and starts the server of mariadb.
start_workloads() {
	case " $workloads " in *" mariadb "*)
		if [ -z "$(mariadb_missing)" ]; then
			mariadb_start
		else
			echo "left out: mariadb: no $(mariadb_missing | tr '\n' ' ')"
			workloads=${workloads/mariadb/}
		fi
		;;
	esac
}
