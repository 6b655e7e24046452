#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf script's text has processes with --show-task-events, as the manual says, or with the field pid. Without either it
# is an error to ask for a process.
# Alone: perf records.
. "$(dirname "$0")/lib.sh"
can_compare perf || skip "$why_not"
timeout 300 perf record -q -a -g -m 2048 -o "$tmp/data" -e sched:sched_switch,sched:sched_waking \
	-- "$load" relay --hops futex,pipe,tcp --work 500,500,500 --sleep 5000 --rounds 20 >"$tmp/told" 2>"$tmp/err" ||
	fail "perf record: $(cat "$tmp/err")"
pid=$(awk '/PERF_RECORD_COMM exec: chainload:/ { sub(/.*chainload:/, ""); sub(/\/.*/, ""); print; exit }' <<END
$(perf script -i "$tmp/data" --show-task-events 2>/dev/null | grep PERF_RECORD_COMM)
END
)
[ "$pid" ] || fail "perf does not tell of chainload"

# threads OPTION... : the threads of chainload that are not left out
threads() {
	"$walk" -q -f threads "$@" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk -f threads $*" 0 $?
	awk '$3 ~ /^(alpha|bravo|charlie|delta)$/ { print $3 }' "$tmp/out" | sort | tr '\n' ' '
}

# shellcheck disable=SC2086 # words
for options in '--header --show-task-events --show-lost-events' '-F +pid'; do
	perf script --ns --no-inline $options -i "$tmp/data" >"$tmp/text" 2>/dev/null
	expect "$options: threads of -p PID" 'alpha bravo charlie delta ' "$(threads -p "$pid" "$tmp/text")"
	! "$walk" -f threads "$tmp/text" 2>&1 >/dev/null | grep 'no process ids' || fail "$options: no process ids"
	[ "$options" = '-F +pid' ] ||
		expect "$options: threads of -p NAME" 'alpha bravo charlie delta ' "$(threads -p chainload "$tmp/text")"
done

perf script --ns --no-inline -i "$tmp/data" >"$tmp/text" 2>/dev/null
for option in "-p $pid" '-p chainload' "--tree-of $pid"; do
	# shellcheck disable=SC2086 # two words
	"$walk" $option "$tmp/text" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$option where processes are not known" 1 $?
	[ ! -s "$tmp/out" ] || fail "$option: there is a result"
	grep -q 'processes are not known.*--show-task-events' "$tmp/err" || fail "$option: no word of why
$(cat "$tmp/err")"
done
"$walk" "$tmp/text" 2>&1 >/dev/null | grep -q 'no process ids.*--show-task-events' || fail "no word of processes"
