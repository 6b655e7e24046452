#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Slow programs, built as distributions build them: the cause of each stands in the first screen that
# "chaincap -- PROGRAM; chainwalk" shows, by thread, function, and how it came to the one who waited.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v cc >/dev/null || skip "no C compiler"
programs=$(dirname "$0")/../workload/slow

# slow NAME ARGUMENT: records it, and leaves the first screen in $tmp/screen
slow() {
	name=$1
	shift
	cc -O2 -pthread -o "$tmp/$name" "$programs/$name.c" 2>"$tmp/err"
	expect_exit "cc $name.c" 0 $?
	timeout 60 "$cap" -q -o "$tmp/trace" -- "$tmp/$name" "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $name" 0 $?
	timeout 60 "$walk" -q -f causes "$tmp/trace" 2>"$tmp/err" >"$tmp/all"
	expect_exit "chainwalk -f causes" 0 $?
	head -n 20 "$tmp/all" >"$tmp/screen"
}

# shows REGEX LEAST: rows like this have at least LEAST percent of the time that is not waiting for a CPU,
# of which there is any amount on a busy machine.
shows() {
	grep -qE "$1" "$tmp/screen" || fail "no row like: $1
$(cat "$tmp/screen")"
	share=$(ROW=$1 awk '$2 != "%" || / waited for a CPU$/ || / all of them$/ { next } { sum += $1 }
		$0 ~ ENVIRON["ROW"] { like += $1 } END { printf "%.0f\n", 100 * like / sum }' "$tmp/screen")
	expect_at_least "share of '$1'" "$2" "$share" "$tmp/screen"
}

# A journal in memory takes no time to sync.
case $(stat -f -c %T "$build") in
tmpfs | ramfs) echo "note: without the journal on a disk: $build is in memory" ;;
*)
	journal=$build/journal.$$
	trap 'rm -f "$journal"; clean_up' EXIT
	slow ledger "$journal"
	shows 'janitor slept in .*fsync < compact_journal' 25
	grep -q 'client <- worker.* <- janitor' "$tmp/screen" || fail "the way from the janitor to the client is not shown
$(cat "$tmp/screen")"
	;;
esac
slow names
shows 'nameserver ran, until it woke in .* < answer' 30
grep -q 'batch <- nameserver' "$tmp/screen" || fail "who waited for the name server is not shown
$(cat "$tmp/screen")"
slow readers
# The C library's functions have no names where it is stripped.
shows 'writer ran, until it woke in .* < change_table' 30
slow lookup
shows 'gateway slept in .*poll < ask_name' 80
slow logger
shows 'logd slept in .*nanosleep.* < (nap|rotate)' 80
slow pool
shows 'pool slept in .* < wait_for_part' 80
