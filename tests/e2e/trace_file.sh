#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The trace can be read by its owner only, and is never written through somebody else's symbolic link or pipe.
# Beside another: it is about the file.
. "$(dirname "$0")/lib.sh"
needs_bpf
umask 0
timeout 300 "$cap" -o "$tmp/trace" 0.2 2>"$tmp/err"
expect_exit "chaincap 0.2" 0 $?
expect "mode of the trace" 600 "$(stat -c %a "$tmp/trace")"

echo precious >"$tmp/victim"
chmod 755 "$tmp"
for mode in 1777 755; do
	mkdir "$tmp/$mode"
	[ $mode = 1777 ] || chown 65534 "$tmp/$mode"
	chmod $mode "$tmp/$mode"
	setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$tmp/victim" "$tmp/$mode/trace" ||
		fail "cannot plant a link"
	timeout 300 "$cap" -o "$tmp/$mode/trace" 0.2 >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap through a planted link in a folder of mode $mode" 1 $?
	expect_one_line "chaincap through a planted link in a folder of mode $mode"
	expect "what the link points to" precious "$(cat "$tmp/victim")"
done

# Nobody reads this pipe, whose opening would wait; somebody reads the next one.
mkfifo "$tmp/fifo"
for reads in nobody somebody; do
	if [ $reads = somebody ]; then
		cat "$tmp/fifo" >"$tmp/stolen" &
		started="$started $!"
		wait_for "who reads the pipe" 10 grep -q 'S (sleeping)' "/proc/$!/status"
	fi
	timeout 300 "$cap" -o "$tmp/fifo" 0.2 >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap into a pipe that $reads reads" 1 $?
	expect_one_line "chaincap into a pipe that $reads reads"
	grep -q -- '-o -' "$tmp/err" || fail "what helps is not said: $(cat "$tmp/err")"
done
expect "bytes in the pipe" 0 "$(wc -c <"$tmp/stolen")"
