#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In which control group each process is: what the test itself has written into cgroup.procs. Of a process that was
# there before the recording, one that came meanwhile, one that was moved, and one whose group is gone; likewise from
# the flight recorder, of what happened before its window. Two groups on one CPU: each has none because of the other.
# Beside another: its own processes are where it has put them, however busy the machine is.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
needs_bpf
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ ! "$top" ]; then
	top=$tmp/cgroup
	mkdir "$top"
	mount -t cgroup2 none "$top" 2>"$tmp/err" || skip "control groups of version 2 cannot be mounted: $(cat "$tmp/err")"
	mounted=$top
fi
base=$top/chain-e2e.$$
mkdir "$base" 2>/dev/null || skip "cannot make a control group below $top"
groups=$base
# Whoever may make a group chooses its name.
shop=$base/shop.service night="$base/night;ly\"1\"" gone=$base/gone inner=$base/inner
for dir in "$shop" "$night" "$gone" "$inner"; do
	mkdir "$dir" || fail "cannot make $dir"
	groups="$dir $groups"
done

# join GROUP COMMAND...: in the background, in that group: $joined
join() {
	# shellcheck disable=SC2016 # for the inner shell
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@" >/dev/null 2>"$tmp/err" &
	joined=$!
	started="$started $joined"
}
# at_work GROUP THREAD SCENARIO [OPTION...]: in that group, on CPU 0, until the thread of that name is there: $joined
at_work() {
	where=$1 thread=$2
	shift 2
	join "$where" taskset -c 0 "$load" "$@" --hops pipe --rounds 1000000000 --seconds 280
	wait_for "$thread in $where" 10 has_thread "$joined" "$thread"
}
has_left() { rmdir "$1" 2>/dev/null; }
move() { echo "$1" >"$2/cgroup.procs" || fail "cannot move $1 into $2"; }

# rows TRACE [OPTION...]: of csv, all but the header, in $tmp/rows, and $tmp/err of chainwalk.
rows() {
	"$walk" -q -f csv "$@" >"$tmp/csv" 2>"$tmp/err"
	expect_exit "chainwalk -f csv $*" 0 $?
	head -n 1 "$tmp/csv" | grep -q ',cgroup,cgroup_name$' || fail "no columns of groups: $(head -n 1 "$tmp/csv")"
	sed 1d "$tmp/csv" >"$tmp/rows"
}
pids() { cut -d, -f7 "$tmp/rows" | sort -u; }
# groups_of PID THREAD TRACE: of this thread's waits, in the order of time and each once in a row: the end of the path,
# and what the group is called if that is not its path.
groups_of() {
	rows "$3" -p "$1" -c "^$2\$"
	sort -t, -k1,1n "$tmp/rows" | sed "s:.*/chain-e2e[.]$$/:/:" | uniq
}
# As csv quotes them. In a name ";" is ":", as in all texts.
in_shop=/shop.service,shop.service in_night='/night:ly""1"""'

at_work "$shop" pong pingpong --work 500
before=$joined
begin_recording "$tmp/trace" -F 0 --names=later
at_work "$night" delta relay --work 2000 --sleep 100
during=$joined
at_work "$shop" pong pingpong --work 500
moved=$joined
sleep 0.5
move "$moved" "$night"
join "$gone" "$load" relay --rounds 5 --sleep 1000
last=$joined
wait "$last" || fail "relay: $(cat "$tmp/err")"
wait_for "the group is empty" 5 has_left "$gone"
join "$inner" unshare -pf --kill-child "$load" pingpong --rounds 1000000000 --seconds 280
contained=
for _ in $(seq 100); do
	contained=$(children "$joined" chainload) && [ "$contained" ] && has_thread "$contained" pong && break
	is_running "$joined" || break
	sleep 0.1
done
[ ! "$contained" ] || started="$started $contained"
sleep 0.5
end_recording
expect_whole "$tmp/trace"
expect "moves, and what makes processes of other namespaces, are accounted for" yes \
	"$(awk '$1 == "more_accounted:" { print $2 }' "$tmp/info")"

expect "groups of a process that was there before" "$in_shop" "$(groups_of "$before" ping "$tmp/trace")"
expect "groups of a process that came meanwhile" "$in_night" "$(groups_of "$during" alpha "$tmp/trace")"
expect "groups of a process that was moved" "$in_shop
$in_night" "$(groups_of "$moved" ping "$tmp/trace")"
expect "groups of a process whose group is gone" /gone "$(groups_of "$last" alpha "$tmp/trace")"
"$walk" -q -f json -p "$during" -c '^alpha$' "$tmp/trace" >"$tmp/json" 2>"$tmp/err"
expect "its group in each line of JSON" "$(wc -l <"$tmp/json")" \
	"$(grep -cF "/chain-e2e.$$/night;ly\\\"1\\\"\",\"cgroup_name\":" "$tmp/json")"
"$walk" -q --all -f threads "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
grep -q "^ *[0-9]* *$before ping .* shop[.]service" "$tmp/threads" || fail "not in the table of threads:
$(grep ping "$tmp/threads")"

# options
rows "$tmp/trace" --cgroup "chain-e2e[.]$$/shop"
expect "processes with --cgroup" "$(printf '%s\n' "$before" "$moved" | sort -u)" "$(pids)"
expect "rows of other groups with --cgroup" 0 "$(grep -vc "/chain-e2e[.]$$${in_shop}\$" "$tmp/rows")"
walk_to "$tmp/folded" --root cgroup -p "$before" -p "$last" -c "^(ping|alpha)\$" "$tmp/trace"
expect "--root cgroup" "/chain-e2e.$$/gone shop.service" "$(cut -d';' -f1 "$tmp/folded" | sort -u | tr '\n' ' ' | sed 's/ $//')"
"$walk" -q --cgroup "no such group" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk --cgroup that matches nothing" 1 $?
expect_one_line "chainwalk --cgroup that matches nothing"

# On CPU 0 the two groups have none because of each other; of its own group a thread has its name.
walk_to "$tmp/folded" --who-ran --state=runnable,preempted --depth 0 -p "$before" "$tmp/trace"
without=';\[(runnable|preempted)\];'
expect_at_least "time of shop.service in which the other group had the CPU" 1000000 \
	"$(weight_of "$without/.*chain-e2e[.]$$/night:ly\"1\" [0-9]+\$" "$tmp/folded")" "$tmp/folded"
expect "of it by names of threads there" 0 "$(weight_of "$without(alpha|bravo|charlie|delta) " "$tmp/folded")"
expect_at_least "time in which its own group had the CPU, by name" 1000000 \
	"$(weight_of "$without(ping|pong) " "$tmp/folded")" "$tmp/folded"

# what a process calls itself in its own PID namespace
own=$(awk '$1 == "NSpid:" && NF == 3 { print $3 }' "/proc/$contained/status" 2>/dev/null)
if [ "$own" ]; then
	rows "$tmp/trace" -p "$own" --cgroup "chain-e2e[.]$$/inner"
	expect "process that is $own in its PID namespace" "$contained" "$(pids)"
else
	echo "note: no PID namespace could be made"
fi

# The flight recorder: moved before the window, and in it.
fly "$tmp/flight.bin" -F 0 --names=later --flight 4s
move "$moved" "$shop"
move "$during" "$shop"
at_work "$shop" pong pingpong --work 500
forked=$joined
move "$forked" "$night"
sleep 7
move "$before" "$night"
sleep 1
kill -USR1 "$recorder"
wait_for "a trace on SIGUSR1" 30 written "$tmp/flight.bin"
expect_whole "$tmp/flight.bin"
expect "flight: listed, and moved in the window" "$in_shop
$in_night" "$(groups_of "$before" ping "$tmp/flight.bin")"
expect "flight: listed, and moved before the window" "$in_shop" "$(groups_of "$during" alpha "$tmp/flight.bin")"
expect "flight: forked and moved before the window" "$in_night" "$(groups_of "$forked" ping "$tmp/flight.bin")"
end_recording
