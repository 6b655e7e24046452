#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One recording of perf, printed by perf script with different fields: the same result from each text,
# as a file and as a stream.
# Alone: perf records.
. "$(dirname "$0")/lib.sh"
can_compare perf || skip "$why_not"
timeout 300 perf record -q -a -g -m 2048 -o "$tmp/data" \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task \
	-- "$load" relay --hops futex,pipe,tcp --work 500,500,500 --sleep 5000 --rounds 40 >"$tmp/told" 2>"$tmp/err" ||
	fail "perf record: $(cat "$tmp/err")"

# text NAME [OPTION...]: perf script's output.
text() {
	name=$1
	shift
	timeout 300 perf script --no-inline -i "$tmp/data" "$@" >"$tmp/$name" 2>"$tmp/err"
	[ -s "$tmp/$name" ] || fail "perf script $*: $(cat "$tmp/err")"
}
text default --ns
"$walk" -q --unit=ns "$tmp/default" >"$tmp/expected" 2>"$tmp/err"
expect_exit "chainwalk of the default fields" 0 $?
expect_at_least "lines" 10 "$(wc -l <"$tmp/expected")" "$tmp/expected"
grep -q '^alpha;.*;--;.*;bravo_runs;.*;bravo;' "$tmp/expected" ||
	fail "alpha is not woken by bravo
$(cut -c1-300 "$tmp/expected")"

# Everything that has symbols and DSOs gives the very same lines; without the column of names those of threads that no
# exec renames while they are on a CPU.
ours='^(alpha|bravo|charlie|delta)$'
all=comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace
for fields in ${all/,symoff/} ${all/event/period,event,flags,misc} tid,cpu,time,event,ip,sym,dso,trace; do
	text variant --ns -F "$fields"
	whose=.
	[ "$fields" != "${fields#comm}" ] || whose=$ours
	"$walk" -q --unit=ns -c "$whose" "$tmp/default" >"$tmp/same"
	"$walk" -q --unit=ns -c "$whose" "$tmp/variant" >"$tmp/got" 2>"$tmp/err"
	expect_exit "-F $fields" 0 $?
	cmp "$tmp/same" "$tmp/got" || fail "-F $fields: other lines
$(diff "$tmp/same" "$tmp/got" | cut -c1-400 | head -10)"
done
for option in '--header --show-lost-events' --hide-call-graph; do
	# shellcheck disable=SC2086 # words
	text variant --ns $option
	"$walk" -q --unit=ns --depth 0 "$tmp/variant" >"$tmp/got" 2>"$tmp/err"
	expect_exit "$option" 0 $?
	[ "$option" = --hide-call-graph ] ||
		"$walk" -q --unit=ns --depth 0 "$tmp/default" | cmp - "$tmp/got" || fail "$option: other lines"
done
# The last of them has no call chains, but the same times.
expect "time without call chains" \
	"$("$walk" -q --unit=ns "$tmp/default" | awk '{ sum += $NF } END { printf "%.0f\n", sum }')" \
	"$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/got")"
"$walk" --depth 0 "$tmp/variant" 2>&1 >/dev/null | grep -q 'no call chains' || fail "no word of missing call chains"

# As a stream, in pieces as they come.
(head -c 1000 "$tmp/default"; sleep 0.1; tail -c +1001 "$tmp/default") | "$walk" -q --unit=ns - >"$tmp/got" 2>"$tmp/err"
expect_exit "standard input" 0 $?
cmp "$tmp/expected" "$tmp/got" || fail "a stream gives other lines than a file"

# Without --ns, and with wakeups for want of wakings, it is said.
text micro
"$walk" "$tmp/micro" 2>&1 >/dev/null | grep -q -e --ns || fail "no word of microseconds"
awk '/sched:sched_waking:/ { skip = 1 } /^[^\t]/ && !/sched:sched_waking:/ { skip = 0 } !skip' "$tmp/default" >"$tmp/wakeups"
"$walk" --unit=ns "$tmp/wakeups" >"$tmp/got" 2>"$tmp/err"
expect_exit "sched_wakeup" 0 $?
grep -q weaker "$tmp/err" || fail "no word of sched_wakeup being weaker: $(cat "$tmp/err")"
# Some of the wakeups, at least, are not passed on to another CPU.
grep -q ';bravo_runs;thread_main;' "$tmp/got" || fail "sched_wakeup: alpha is not woken by bravo"

# Fields that are not enough, and no switches, also in perf's own file: one line each, that says what to do.
perf record -q -o "$tmp/cycles" -e cpu-clock true >/dev/null 2>&1
text few -F comm,tid,time,event,trace
perf script -i "$tmp/cycles" >"$tmp/none" 2>/dev/null
for file in cycles few none; do
	[ -s "$tmp/$file" ] || continue
	"$walk" "$tmp/$file" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk $file" 1 $?
	expect_one_line "chainwalk $file"
	grep -q 'perf' "$tmp/err" || fail "$file: nothing of perf in: $(cat "$tmp/err")"
done
