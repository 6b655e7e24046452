#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that do nothing but count see as many events on each CPU as there are in the log and counted
# as lost: on load of which nothing is lost, with two threads that read the rings, and with a tiny buffer
# and a recorder that is stopped.
. "$(dirname "$0")/lib.sh"
only_all "it waits for rest between loads"
needs_bpf

# marked FILE: the log's count of events on each CPU before each mark, "CPU NAME EVENTS LOST_WITHOUT_CPU".
marked() {
	awk '
		# What says more of the others has accounts of its own.
		$3 ~ /^(sample|queue|throttled|object|ready|asks|done|interrupts|steal|request|more|open|holder|recorder|group|own-id|stream|not-sent|tcp-timer|unthrottled|work|slept-at|stacks)$/ || ($3 == "lost" && $5 != "events") { next }
		$2 == "[???]" { nowhere += $4; next }
		{ cpu = substr($2, 2, 3) + 0 }
		$3 == "lost" { count[cpu] += $4; next }
		$3 == "rename" && $NF ~ /^mark-[0-9]+-[0-9]+$/ { printf "%.0f %s %.0f %.0f\n", cpu, $NF, count[cpu], nowhere }
		{ count[cpu]++ }' "$1"
}

cpus=$(grep -c '^cpu[0-9]' /proc/stat)

# at_rest: waits until the recorder takes less than a tenth of a CPU, for 10 s at most.
at_rest() {
	ticks=0
	for _ in $(seq 34); do
		before=$ticks
		sleep 0.3
		ticks=$(awk '{ printf "%.0f", $14 + $15 }' "/proc/$recorder/stat")
		[ $((ticks - before)) -ge 3 ] || break
	done
}

# is_marked: whether the last marks of each CPU are in the log.
is_marked() {
	"$walk" -q --all --format=events "$trace" 2>/dev/null | awk -v first=$((marks - 3)) -v cpus="$cpus" '
		$3 == "rename" && $NF ~ /^mark-[0-9]+-[0-9]+$/ { split($NF, part, "-"); n += part[3] >= first }
		END { exit n < 3 * cpus }'
}
# mark_cpus: makes marks at rest, until those of each CPU are in the log: some may be lost. $marks: how many so far.
mark_cpus() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		at_rest
		echo mark >&3
		marks=$((marks + 3))
		sleep 0.7 # the recorder writes twice a second
		! is_marked || return 0
	done
	fail "the last marks of $marks are not in the log"
}

# count_beside NAME BUFFER HOW THREADS [OPTION...]: records a load of about a second between marks.
count_beside() {
	name=$1 buffer=$2 how=$3 threads=$4
	shift 4
	trace=$tmp/$name.trace
	begin_counting "$name" --buffer-size "$buffer" --threads "$threads" "$@"
	marks=0
	mark_cpus
	marks_before=$marks
	busy 600
	load_pid=$!
	"$load" convoy --threads 40 --work 0 --rounds 100000 --seconds 2 >/dev/null 2>&1 &
	convoy=$!
	started="$started $load_pid $convoy"
	sleep 0.3
	if [ "$how" = stop ]; then
		kill -STOP "$recorder"
		sleep 0.7
		kill -CONT "$recorder"
	fi
	sleep 0.5
	kill "$load_pid" "$convoy" 2>/dev/null
	wait "$load_pid" "$convoy"
	mark_cpus
	end_counting
	read_info "$trace"
	timeout 300 "$walk" -q --format=events "$trace" >"$tmp/$name.events" 2>"$tmp/err"
	expect_exit "chainwalk --format=events" "0 3" $?
	marked "$tmp/$name.events" >"$tmp/$name.logged"
	# Of each CPU all pairs of a mark before and one after the load. In most of them the counts agree
	# exactly; none may be off by more than the one event an interrupt put on the other side of a mark.
	awk -v before="$marks_before" -v marks="$marks" '
		NR == FNR { if ($1 == "mark") counted[$3] = $4; next }
		$2 in counted { logged[$2] = $3; nowhere[$2] = $4; cpus[$1] }
		END {
			for (cpu in cpus) {
				pairs = equal = far = 0
				for (a = 0; a < before; a++)
					for (b = before; b < marks; b++) {
						from = "mark-" cpu "-" a; to = "mark-" cpu "-" b
						if (!(from in logged) || !(to in logged))
							continue
						kernel = counted[to] - counted[from]
						log_lost = logged[to] - logged[from]
						off = kernel - log_lost
						extra = nowhere[to] - nowhere[from]
						pairs++
						if (off >= 0 && off <= extra) equal++
						else if (off < -2 || off > extra + 2) far++
					}
				printf "cpu %.0f: kernel %.0f, log and lost %.0f, %.0f of %.0f pairs agree, %.0f far off\n",
					cpu, kernel, log_lost, equal, pairs, far
			}
		}' "$tmp/$name.counted" "$tmp/$name.logged" >"$tmp/$name.result"
	expect "$name: CPUs compared" "$(awk '$1 == "mark" && !seen[$2]++ { n++ } END { printf "%.0f\n", n }' "$tmp/$name.counted")" \
		"$(wc -l <"$tmp/$name.result" | tr -d ' ')"
	awk '!($9 >= $11 * 4 / 9 && $11 >= 6 && $14 == 0)' "$tmp/$name.result" >"$tmp/$name.wrong"
	expect "$name: CPUs whose counts differ
$(cat "$tmp/$name.result")
marks" "" "$(cat "$tmp/$name.wrong")"
	sed "s/^/note: $name: /" "$tmp/$name.result"
}

count_beside kept 16M run 2
expect "events lost of a load that the default buffer holds" 0 "$lost"
count_beside dropped 64K stop 1
expect_at_least "events lost with a small buffer and a stopped recorder" 1000 "$lost" "$tmp/info"
# What has no stacks goes another way.
count_beside light 16M run 2 --light 1ms
expect "events lost of a light recording" 0 "$lost"
count_beside light_dropped 16K stop 1 --light 1ms
expect_at_least "events lost of a light recording with a small buffer, stopped" 1000 "$lost" "$tmp/info"
