#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Slow programs, built as distributions build them: the cause of each stands in the first screen that
# "chaincap -- PROGRAM; chainwalk" shows, by thread, function, what was waited for, and how it came to the one
# who waited.
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
	shows 'janitor/[0-9]+ (held|ran|slept).* < compact_journal' 50
	has 'janitor/[0-9]+ held futex [0-9]*:ledger\+0x[^ ]*: .*[0-9]+ % slept in .*fsync < compact_journal.* client <- worker.* <- janitor'
	dd if=/dev/zero of="$file" bs=1M count=16 conv=fsync 2>"$tmp/err"
	expect_exit "dd" 0 $?
	slow mapped "$file"
	shows 'summer/[0-9]+ slept in .* sum_page .*for file .*/mapped\.[0-9]*, until' 80
	;;
esac
slow names
shows 'nameserver/[0-9]+ ran [0-9]+ % in .*find_name.* then woke the waiter in .* < answer' 30
# Both wait for it nearly all the time, so it is chance who of them waited longer and is shown.
has '(batch|audit) <- nameserver, for udp '
has 'nameserver/[0-9]+ ran .*, [0-9]+ % for (audit|batch).* made .*batch'
slow readers
# The C library's functions have no names where it is stripped. Nominally a third: of each 9 ms a writer
# waits 2 for the others, who run, and naps for 4; the reader waits for all of it, a third of which is running.
shows 'writer/[0-9]+.* held futex [0-9]*:readers\+0x[^ ]*: .*[0-9]+ % ran' 20
has 'writer/[0-9]+.* held .* made .*reader.* reader <- writer'
slow lookup
shows 'gateway/[0-9]+.* slept in .*poll < ask_name for poll udp 127\.0\.0\.1:[0-9]*, until a timer' 80
slow logger
shows 'logd/[0-9]+ slept in .*nanosleep.* < (nap|rotate).* for sleep 20ms' 80
has 'service <- logd, for pipe [0-9]* .*logd/[0-9]*'
slow pool
shows 'pool/[0-9]+.* slept in .* < wait_for_part for futex [0-9]*:pool\+0x' 80
