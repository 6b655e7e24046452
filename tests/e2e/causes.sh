#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Slow programs, built as distributions build them: the cause of each stands in the first screen that
# "chaincap -- PROGRAM; chainwalk" shows, by thread, function, and how it came to the one who waited.
. "$(dirname "$0")/lib.sh"
needs_bpf
# A journal in memory takes no time to sync, and a file there none to read.
case $(stat -f -c %T "$build") in
tmpfs | ramfs) echo "note: without the journal and the file on a disk: $build is in memory" ;;
*)
	journal=$build/journal.$$ file=$build/mapped.$$
	trap 'rm -f "$journal" "$file"; clean_up' EXIT
	slow ledger "$journal"
	# How much of it is the disk's depends on the disk, and on who else wants the CPU.
	shows 'janitor (ran|slept).* < compact_journal' 50
	grep -q 'janitor slept in .*fsync < compact_journal' "$tmp/screen" || fail "the disk is not shown
$(cat "$tmp/screen")"
	grep -q 'client <- worker.* <- janitor' "$tmp/screen" || fail "the way from the janitor to the client is not shown
$(cat "$tmp/screen")"
	dd if=/dev/zero of="$file" bs=1M count=16 conv=fsync 2>"$tmp/err"
	expect_exit "dd" 0 $?
	slow mapped "$file"
	shows 'summer slept in .* sum_page' 80
	;;
esac
slow names
shows 'nameserver ran, until it woke in .* < answer' 30
grep -q 'batch <- nameserver' "$tmp/screen" || fail "who waited for the name server is not shown
$(cat "$tmp/screen")"
grep -q 'nameserver ran, .*; meanwhile it woke audit' "$tmp/screen" ||
	fail "for whom the name server worked is not shown
$(cat "$tmp/screen")"
slow readers
# The C library's functions have no names where it is stripped. Nominally a third: of each 9 ms a writer
# waits 2 for the others, who run, and naps for 4; the reader waits for all of it, a third of which is running.
shows 'writer ran, until it woke in .* < change_table' 20
slow lookup
shows 'gateway slept in .*poll < ask_name' 80
slow logger
shows 'logd slept in .*nanosleep.* < (nap|rotate)' 80
slow pool
shows 'pool slept in .* < wait_for_part' 80
