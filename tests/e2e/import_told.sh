#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What people give to chainwalk that it does not read is recognized by its first bytes or line, and the message says
# what to do with it. What is only compressed is read.
. "$(dirname "$0")/lib.sh"

# told FILE TEXT: not read, and one line has the text.
told() {
	"$walk" -f folded "$1" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$1" 1 $?
	[ -s "$tmp/out" ] && fail "$1: output
$(head -5 "$tmp/out")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "$1: not one line
$(cat "$tmp/err")"
	grep -qF -- "$2" "$tmp/err" || fail "$1: expected: $2
got: $(cat "$tmp/err")"
}

cd "$tmp" || exit 1
mkdir threads
: >threads/header
told threads 'perf script --ns -i FOLDER | chainwalk -'
mkdir empty
told empty 'a folder; to see its newest trace, and each new one: chainwalk --follow'
printf '\027\010\104tracing6\000\000\000' >trace.dat
told trace.dat 'trace-cmd report -i FILE | chainwalk -'
printf '\377\376A\000 \0001\000' >utf16
told utf16 'iconv -f UTF-16'
printf ' Performance counter stats for '"'sleep 1'"':\n\n   1.23 msec task-clock\n' >stat
told stat 'perf stat'
printf '           time    cpu  task name                       wait time  sch delay   run time\n' >timehist
told timehist 'give perf.data itself'
printf 'Samples of sched_switch event do not have callchains.\n           time    cpu\n' >timehist
told timehist 'give perf.data itself'
printf 'execve("/usr/bin/true", ["true"], 0x7ffd /* 20 vars */) = 0\nbrk(NULL) = 0x55\n' >strace
told strace 'does not say who woke whom'
printf '[pid  1234] 12:00:01.000123 futex(0x7f, FUTEX_WAIT, 0, NULL) = 0\n' >strace
told strace 'does not say who woke whom'
printf 'hello\n' | bzip2 -c >text.bz2
told text.bz2 'bzcat'
printf 'hello\n' | gzip -c >text.gz
told text.gz 'compressed, and no recording is in it'
printf 'A 101 [000] 1.000100000: sched:sched_switch: \n\tffffffff81399969 a ([b])\n\n' >text
told text 'the field trace'
printf 'A 101 [000] 1.000100000: \n\tffffffff81399969 a ([b])\n\n' >text
told text 'the field event'

# event CPU MICROSECONDS THREAD TID TEXT
event() {
	printf '%s %5d [%03d]     1.%06d000: sched:sched_%s\n\tffffffff81399969 f+0x29 ([kernel.kallsyms])\n\n' "$3" "$4" "$1" "$2" "$5"
}
{
	event 1 0 swapper 0 'switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=B next_pid=102 next_prio=120'
	event 0 10 swapper 0 'switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=A next_pid=101 next_prio=120'
	event 0 100 A 101 'switch: prev_comm=A prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120'
	event 1 500 B 102 'waking: comm=A pid=101 prio=120 target_cpu=000'
	event 0 530 swapper 0 'switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=A next_pid=101 next_prio=120'
} >whole
"$walk" -q whole >expected 2>/dev/null
[ -s expected ] || fail "the text itself gives nothing"
trace=$(ls "$OLDPWD"/tests/data/services/*.bin | head -1)
"$walk" -q -f folded "$trace" >expected_trace
for program in gzip xz zstd; do
	command -v $program >/dev/null || continue
	$program -c <whole >packed
	"$walk" -q packed >out 2>err
	expect_exit "$program" 0 $?
	cmp -s out expected || fail "$program: other lines than of the text itself: $(cat err)"
	"$walk" -q - <packed >out 2>err
	cmp -s out expected || fail "$program, from a pipe: other lines: $(cat err)"
	$program -c <"$trace" >packed
	"$walk" -q -f folded packed >out 2>err
	cmp -s out expected_trace || fail "$program: other lines than of the trace itself: $(cat err)"
	head -c 30000 packed >short
	"$walk" -q -f folded short >out 2>err && fail "$program, cut off: exit status 0"
	grep -q . err || fail "$program, cut off: not a word"
done

# Two hundred million zeros in a few bytes are given up.
head -c 200000000 /dev/zero | gzip -c >bomb
timeout 60 "$walk" bomb >out 2>err
expect_exit "a bomb" 1 $?
