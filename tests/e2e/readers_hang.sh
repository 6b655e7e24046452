#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that read files for the recorder hang in five file systems whose servers do not answer them, where nothing
# ends them. That costs these programs' names, not all others': the memory that is shared out is not used
# up by those that hang, and the recording ends in time.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
[ -c /dev/fuse ] || skip "this kernel has no /dev/fuse"

# The file systems end with the namespace, and that with its processes.
# shellcheck disable=SC2016 # for the inner shell
unshare -m sh -c 'for i in 1 2 3 4 5; do
		mkdir "$1/dead$i"
		"$2/deaf_files" "$1/dead$i" "$3" chaincap-r >"$1/server$i" 2>&1 &
		echo $! >>"$1/pids"
	done
	while ! [ "$(cat "$1"/server* | grep -c ready)" = 5 ]; do sleep 0.1; done
	for i in 1 2 3 4 5; do
		"$1/dead$i/program" relay --work 50 --rounds 1000000 --seconds 600 --hops pipe >/dev/null 2>&1 &
		echo $! >>"$1/pids"
	done
	echo >"$1/ready"
	wait' sh "$tmp" "$build" "$load" &
started="$started $!"
wait_for "five file systems" 20 test -e "$tmp/ready"
started="$started $(tr '\n' ' ' <"$tmp/pids")"
calm 600
begin_recording "$tmp/trace" --memory=128M
sleep 3
end_within 30
expect_at_least "file systems in which somebody hangs" 3 "$(cat "$tmp"/server* | grep -c silent)"
# On a busy machine the time for names may end before all are there (--names).
read_info "$tmp/trace"
expect_at_least "functions of other programs with names" 10 "$(info_figure frames_user_named)" "$tmp/err.cap"
sed -n 's/^chaincap: readers of/note: readers of/p' "$tmp/err.cap"

# Each file system keeps a few of them, however often names are asked for: nobody is sent where another one hangs.
fly "$tmp/flight" --flight=10s --memory=128M
for n in "" .1 .2 .3; do
	sleep 1.5
	kill -USR1 "$recorder"
	wait_for "a trace" 6 written "$tmp/flight$n"
done
below "$recorder" | awk '$3 == "D" && $5 ~ /^chaincap-r/ { n++ } END { printf "%.0f\n", n }' >"$tmp/hanging"
end_recording
echo "note: $(cat "$tmp/hanging") processes hang after four traces"
# Who reads rules, who reads names and who opens files, and one more where two were sent at once.
expect_at_most "processes that hang in five file systems after four traces" 20 "$(cat "$tmp/hanging")"
