#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perf's own file: chainwalk makes of it what it makes of the text that perf script prints of it, to the nanosecond, and
# what perf record -z and perf record -o - write is read as well.
#
# Functions of the C library have several names each, of which perf chooses others: __GI___libc_write and __write are one.
# perf names functions of the vdso by its own; with --buildid-mmap nothing proves that it was the same.
# And it makes names for entries of procedure linkage tables, which are no symbols. Of what comes from a pipe on a slow
# machine it may not know the mapping of a library yet, and says [unknown] of functions that have no names.
# Alone: perf records.
. "$(dirname "$0")/lib.sh"
can_compare perf || skip "$why_not"
events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_process_fork,sched:sched_migrate_task

# record OPTION... : chainload's relay, on the whole machine; leaves $tmp/told
record() {
	# shellcheck disable=SC2016 # for the inner shell
	timeout 300 perf record -q -a -g -m 4096 -e $events "$@" -- sh -c 'exec "$@" >"$0"' "$tmp/told" \
		"$load" relay --hops futex,pipe,tcp --work 1500,2500,3500 --rounds 10 2>"$tmp/err" ||
		fail "perf record $*: $(cat "$tmp/err")"
}

# plain FILE: its lines with one name for each function, equal ones added up; LC_ALL is C.
plain() {
	sed -E 's/(^|;)_*(GI_+)?(libc_)?/\1/g; s/;vdso_[a-z_]*/;[vdso]/g
		s/;([^;]*@plt|\[(chainload|lib[^;]*|ld-[^;]*'"$unmapped"')\])/;[linkage]/g' "$1" | awk '
		{ weight = $NF; sub(/ [^ ]*$/, ""); sum[$0] += weight }
		END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' | sort
}

# compare WHAT FILE [-]: chains of chainload's threads, of the file and of perf's text of it; -: perf gets it from a pipe.
compare() {
	unmapped=${3:+'|unknown'}
	timeout 300 perf script --ns --no-inline --header --show-task-events --show-lost-events -i "${3:-$2}" \
		<"$2" >"$tmp/text" 2>"$tmp/err"
	[ -s "$tmp/text" ] || fail "$1: perf script: $(cat "$tmp/err")"
	for name in bravo charlie delta alpha; do
		walk_to "$tmp/a" -q --state=all -t "$(tid $name)" "$tmp/text"
		walk_to "$tmp/b" -q --state=all -t "$(tid $name)" "$2"
		[ -s "$tmp/a" ] || fail "$1: no chains of $name"
		expect "$1: chains of $name" "$(plain "$tmp/a")" "$(plain "$tmp/b")"
	done
	grep -q 'alpha_runs;.*;--;.*;bravo_runs;.*;bravo;' "$tmp/b" || fail "$1: alpha is not woken by bravo
$(cat "$tmp/b")"
	for figure in events events_switch events_waking lost; do
		expect "$1: $figure" "$("$walk" -q -f info "$tmp/text" | grep "^$figure:")" \
			"$("$walk" -q -f info "$2" | grep "^$figure:")"
	done
}

record -o "$tmp/perf.data"
compare "a file" "$tmp/perf.data"
expect "the host" "$("$walk" -q -f info "$tmp/text" | grep '^host:')" \
	"$("$walk" -q -f info "$tmp/perf.data" | grep '^host:')"
# Processes are known.
"$walk" -q -f threads -p "$(awk '$1 == "process" { print $3 }' "$tmp/told")" "$tmp/perf.data" >"$tmp/out" 2>"$tmp/err"
expect_exit "-p of a process" 0 $?
[ "$(awk '{ print $3 }' "$tmp/out" | grep -cxE 'alpha|bravo|charlie|delta')" = 4 ] || fail "the threads of chainload:
$(cat "$tmp/out")"

# What is compressed, in pieces that end anywhere.
if ldd "$walk" | grep -q libzstd && perf record --help 2>&1 | grep -q compression-level; then
	record -z --buildid-mmap -o "$tmp/perf.data"
	compare "a compressed file" "$tmp/perf.data"
fi

record --buildid-mmap -o - >"$tmp/piped"
compare "from a pipe" "$tmp/piped" -
"$walk" -q --state=all -t "$(tid alpha)" --unit=ns - <"$tmp/piped" >"$tmp/out" 2>"$tmp/err"
expect_exit "standard input" 0 $?
expect "standard input" "$(cat "$tmp/b")" "$(cat "$tmp/out")"

# On another machine, where the program is not at its path: a folder has it, by its build ID.
cp "$load" "$tmp/prog"
load=$tmp/prog
record --buildid-mmap -o "$tmp/perf.data"
mkdir "$tmp/files"
mv "$tmp/prog" "$tmp/files/of-another-name"
HOME=/nonexistent "$walk" -q -t "$(tid alpha)" "$tmp/perf.data" >"$tmp/out" 2>"$tmp/err"
! grep -q ';alpha_runs;' "$tmp/out" || fail "names from nowhere"
HOME=/nonexistent "$walk" -q -t "$(tid alpha)" --debug-dir "$tmp/files" "$tmp/perf.data" >"$tmp/out" 2>"$tmp/err"
grep -q ';alpha_runs;' "$tmp/out" || fail "no names from --debug-dir: $(cat "$tmp/err")"
load=$build/chainload

# Which kernel it was is not said: nothing of the kernel is named, though it is the running one.
record --no-buildid -o "$tmp/perf.data"
if HOME=/nonexistent "$walk" -t "$(tid alpha)" "$tmp/perf.data" 2>"$tmp/err" | grep ';do_syscall_64'; then
	fail "functions of a kernel that may be another one"
fi
grep -q 'no build ID of the kernel' "$tmp/err" || fail "no word of the kernel: $(cat "$tmp/err")"

# Cut off, but not before the events: what is there is read, and the status says it.
head -c "$(($(wc -c <"$tmp/piped") - 4003))" "$tmp/piped" >"$tmp/cut"
"$walk" -q "$tmp/cut" >"$tmp/out" 2>"$tmp/err"
expect_exit "cut off" 3 $?
grep -q 'cut off' "$tmp/err" || fail "no word of the cut: $(cat "$tmp/err")"
