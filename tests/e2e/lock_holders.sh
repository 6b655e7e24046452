#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who has a lock is read from the lock itself: of mutexes and rwlocks of the GNU C library. Threads that
# go to sleep at one while it is held name its holder, and never anybody else; so do two that have slept
# at each other's lock since before the recording. A program's own lock, which looks the same in memory,
# and a semaphore name nobody. The same in a PID namespace, where threads have other numbers for
# themselves, from the flight recorder, and while another recorder looks at the same switches. Of a lock between processes the holder is one that shares its page, at
# another address; a word that names anybody else, in memory that a process has for itself, is not believed.
# Beside another: what counts is what its own threads wait for.
. "$(dirname "$0")/lib.sh"
needs_bpf

# expect_holders TRACE: of the threads in $tmp/told, by name.
expect_holders() {
	trace=$1
	sed -n 's,/[0-9]*,,g; s/ waits for / /p' "$tmp/told" >"$tmp/expected"
	[ "$(wc -l <"$tmp/expected")" -ge 10 ] || fail "too few threads: $(cat "$tmp/told")"
	# Of each sleep at a lock its thread and the holder, or -; or ? if it is not known where it slept, as when
	# the machine is too busy to find the functions of a program that has just been seen first.
	while read -r waiter _; do
		"$walk" -q -f tree --not-woken -c "^$waiter\$" "$trace" >"$tmp/tree" 2>"$tmp/err"
		expect_exit "chainwalk -f tree -c $waiter" 0 $?
		awk -v waiter="$waiter" '/^  \+/ && / for futex / {
			holder = "-"
			for (i = 1; i < NF; i++)
				if ($i == "held" && $(i + 1) == "by")
					holder = $(i + 2)
			sub(/\/.*/, "", holder)
			getline
			if (holder == "-" && (!/ \| / || / < \?$/))
				holder = "?"
			# glibc sleeps for these in functions of its own that replace pthread_mutex_... on the
			# stack, and have names by its debug symbols only.
			if (holder == "-" && waiter ~ /^([rt]|pr|f|fr|fpi|pi)_user$/ && /\[libc[.]so[.]6\+/ && !/pthread_mutex_/)
				holder = "?"
			print waiter, holder
		}' "$tmp/tree"
	done <"$tmp/expected" >"$tmp/got"
	while read -r waiter holder; do
		[ "$holder" != nobody ] || holder=-
		right=$(grep -c "^$waiter $holder\$" "$tmp/got")
		all=$(grep -c "^$waiter [^?]" "$tmp/got")
		# A lock may be let go between the thread's look and its sleep, and has no holder then.
		wrong=$(grep "^$waiter " "$tmp/got" | grep -vc -e " $holder\$" -e ' [-?]$')
		case $all:$waiter in
		0:[rt]_user | 0:pr_user | 0:f*_user)
			echo "note: $waiter: glibc's own functions have no names here"
			continue
			;;
		esac
		[ "$wrong" = 0 ] && [ "$right" -ge 1 ] && [ $((10 * right)) -ge $((9 * all)) ] ||
			fail "$trace: $waiter waits for $holder: named in $right of $all sleeps, others in $wrong:
$(sort "$tmp/got" | uniq -c)"
	done <"$tmp/expected"
	# The words of these look like holders: only where their threads slept tells that they are none.
	"$walk" -q -f events "$trace" >"$tmp/events" 2>"$tmp/err"
	grep -q ' holder o_user/[0-9]* waits for a lock of o_holder/' "$tmp/events" ||
		fail "$trace: the program's own lock does not look like a mutex: this shows nothing"
}

# expect_deadlock TRACE: the summary names it.
expect_deadlock() {
	"$walk" -f folded -c pollux -c castor "$1" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk" 0 $?
	for two in 'castor pollux' 'pollux castor'; do
		grep -q "(${two% *}; -t [0-9]* (${two#* }) holds it)" "$tmp/err" ||
			fail "$1: no word of a deadlock in the summary:
$(cat "$tmp/err")"
	done
}

"$build/lock_holders" 60 >"$tmp/told" &
program=$!
started="$started $program"
wait_for "its threads" 10 grep -q ready "$tmp/told"
begin_recording "$tmp/first"
timeout 300 "$cap" -o "$tmp/trace" 2 2>"$tmp/err"
expect_exit "chaincap 2" 0 $?
end_recording
expect_whole "$tmp/trace"
expect_holders "$tmp/trace"
expect_deadlock "$tmp/trace"
timeout 300 "$cap" --flight 1s -o "$tmp/flight" 3 2>"$tmp/err"
expect_exit "chaincap --flight" 0 $?
expect_holders "$tmp/flight"
expect_deadlock "$tmp/flight"

kill "$program"
unshare --pid --fork "$build/lock_holders" 60 >"$tmp/told" &
started="$started $! $(pgrep -P $!)"
wait_for "its threads, in a namespace" 10 grep -q ready "$tmp/told"
started="$started $(pgrep -P $!)"
timeout 300 "$cap" -o "$tmp/inner" 2 2>"$tmp/err"
expect_exit "chaincap 2" 0 $?
expect_holders "$tmp/inner"
expect_deadlock "$tmp/inner"
exit 0
