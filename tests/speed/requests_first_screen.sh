#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen of "chaincap 6; chainwalk", 24 lines of 80 columns, names what makes the slowest requests of a
# service slow: in the chain of these the share, thread and function of the cause, and the object that others wait for.
# On an idle machine: whatever else has the CPUs makes requests slow, too. tests/services/ has the services, and what is to be named.
#   requests_first_screen.sh BUILD_DIR [SERVICE...]
. "$(dirname "$0")/../e2e/lib.sh"
shift
needs_bpf
chmod 755 "$tmp"
services=$(cd "$(dirname "$0")/../services" && pwd)
# shellcheck source=tests/services/screen.sh
. "$services/screen.sh"
[ $# -gt 0 ] || set -- c go java node php postgresql python

# record NAME: to $tmp/NAME, under load; $endpoint is the service's.
record() {
	TMPDIR=$tmp sh "$services/run.sh" "$1" 10 >"$tmp/told" 2>"$tmp/err" &
	service=$!
	started="$started $service"
	for _ in $(seq 1200); do
		! grep -q '^loading$' "$tmp/told" || break
		is_running $service || break
		sleep 0.1
	done
	grep -q '^loading$' "$tmp/told" || {
		wait $service
		[ $? = 77 ] || fail "$1 does not start: $(cat "$tmp/err")"
		return 77
	}
	endpoint=$(sed -n 's/^endpoint //p' "$tmp/told")
	sleep 1 # the clients' first requests
	timeout 60 "$cap" -q -o "$tmp/$1" 6 2>"$tmp/err.cap"
	expect_exit "chaincap" 0 $?
	wait $service || fail "$1: the load failed: $(cat "$tmp/err")"
}

ran=
for name; do
	wait_until_idle || {
		echo "note: $name: not judged, as the machine has too much to do"
		continue
	}
	record "$name" || continue
	ran="$ran $name"
	on_terminal "$walk -q $tmp/$name" | screenful >"$tmp/screen"
	block_of "$endpoint" <"$tmp/screen" >"$tmp/block"
	expect_block "$name" "$tmp/block" thread function object
	share=$(share_of "$name" "$tmp/block" function)
	expect_at_least "$name: percent of the slowest requests' time" "$(expected "$name" share)" "$share" "$tmp/screen"
	echo "note: $name: $(head -n 1 "$tmp/block")"
done
[ "$ran" ] || skip "none of the services can run, or the machine has too much to do"
