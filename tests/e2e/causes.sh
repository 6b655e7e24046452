#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Slow programs, built as distributions build them: the cause of each stands in the first screen that
# "chaincap -- PROGRAM; chainwalk" shows, by thread, function, what was waited for, and how it came to the one
# who waited.
# Beside another: what counts is how the time of its own threads is shared out.
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
	has 'janitor slept in .*fsync < compact_journal for file .*/journal\.[0-9]*, until'
	has 'client <- worker.* <- janitor, for futex [0-9]*:ledger\+0x'
	dd if=/dev/zero of="$file" bs=1M count=16 conv=fsync 2>"$tmp/err"
	expect_exit "dd" 0 $?
	slow mapped "$file"
	shows 'summer slept in .* sum_page for file .*/mapped\.[0-9]*, until' 80
	;;
esac
slow names
shows 'nameserver ran, until it woke in .* < answer' 30
# Both wait for it nearly all the time, so it is chance who of them waited longer and is shown.
has '(batch|audit) <- nameserver, for udp '
has 'nameserver ran, .*; meanwhile it woke audit'
has 'nameserver ran, .*; meanwhile it woke .*batch [0-9]+ times|batch <- nameserver'
slow readers
# The C library's functions have no names where it is stripped. Nominally a third: of each 9 ms a writer
# waits 2 for the others, who run, and naps for 4; the reader waits for all of it, a third of which is running.
shows 'writer ran, until it woke in .* < change_table' 20
has 'reader <- writer.*, for futex [0-9]*:readers\+0x'
slow lookup
shows 'gateway slept in .*poll < ask_name for poll udp 127\.0\.0\.1:[0-9]*, until a timer' 80
slow logger
shows 'logd slept in .*nanosleep.* < (nap|rotate) for sleep 20ms' 80
has 'service <- logd, for pipe [0-9]* .*logd/[0-9]*'
slow pool
shows 'pool slept in .* < wait_for_part for futex [0-9]*:pool\+0x' 80
