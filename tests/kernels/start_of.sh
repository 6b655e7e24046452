# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # what is set by who sources it
# How long a recorder takes from its command line until it records, and from its end until it has finished:
# for bench/start.sh, and in a guest of qemu for guest/start.sh. To be sourced, with
#   $cap    chaincap
#   $dir    a folder
#   $clock  a command whose first word is the time in seconds

# run_recorder NAME: $dir/begin and $dir/last are the clock when it records, and a second later.
run_recorder() {
	export dir clock
	# shellcheck disable=SC2016 # the recorded shell expands it
	command='$clock >"$dir/begin"; sleep 1; $clock >"$dir/last"'
	case $1 in
	chaincap) "$cap" -q -o "$dir/trace" -- sh -c "$command" ;;
	perf) perf record -q -a -g -e sched:sched_switch -e sched:sched_waking -o "$dir/trace" -- sh -c "$command" ;;
	bpftrace)
		echo "$command" >"$dir/command"
		bpftrace -c "/bin/sh $dir/command" -e 'tracepoint:sched:sched_switch { @off[kstack, ustack, comm] = count(); }
			tracepoint:sched:sched_waking { @wake[kstack, ustack, comm] = count(); }'
		;;
	# It does not say when it begins, and knows no command.
	offcputime) offcputime 1 ;;
	esac >"$dir/out" 2>"$dir/err"
}

# start_of NAME: prints seconds: all but the second that is recorded, until it records, and until it has
# finished; of offcputime the first alone. Fails with the reason on standard error.
start_of() {
	rm -f "$dir/begin" "$dir/last"
	from=$($clock)
	run_recorder "$1"
	status=$?
	to=$($clock)
	rm -f "$dir/trace"
	if [ $status -eq 0 ] && [ "$1" = offcputime ]; then
		: >"$dir/begin"
	elif [ $status -ne 0 ] || [ ! -s "$dir/last" ]; then
		echo "$1: exit $status: $(tail -n 1 "$dir/err")" >&2
		return 1
	fi
	cat "$dir/begin" "$dir/last" 2>/dev/null | awk -v from="$from" -v to="$to" '{ at[NR] = $1 }
		END {
			printf "%.3f", to - from - 1
			if (NR)
				printf " %.3f %.3f", at[1] - from, to - at[2]
			print ""
		}'
}
