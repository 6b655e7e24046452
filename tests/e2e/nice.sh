#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# While recording, all threads of the recorder have the nice value -10, or the one that their user gave it.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(nproc)" -gt 1 ] || skip "a second thread for the rings takes a second CPU"

# The nice value of each thread of the recorder; the kernel's for io_uring do not count.
own_threads() {
	for t in /proc/$recorder/task/*; do
		grep -q '^iou-' "$t/comm" || sed 's/.*) //' "$t/stat" | cut -d ' ' -f 17
	done
}
has_two_threads() { [ "$(own_threads | wc -l)" -eq 2 ]; }

# nice_values WHAT EXPECTED COMMAND...: of the recorder's own threads.
nice_values() {
	what=$1 expected=$2
	shift 2
	"$@" -v --threads 2 -o "$tmp/trace" 2>"$tmp/err.cap" &
	recorder=$!
	started="$started $recorder"
	wait_for "the recorder begins" 20 grep -q 'read by 2 threads' "$tmp/err.cap"
	wait_for "its second thread begins" 20 has_two_threads
	seen=$(own_threads | sort | uniq -c | tr -s ' \n' ' ')
	kill -INT $recorder
	wait $recorder
	expect "$what: how many threads have which nice value" "$expected" "$seen"
}
own=$(cut -d ' ' -f 19 /proc/self/stat)
[ "$own" = 0 ] || skip "this test has the nice value $own"
nice_values "as it is" " 2 -10 " "$cap"
nice_values "nice -n 5" " 2 5 " nice -n 5 "$cap"
