#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen of "chaincap 6; chainwalk", 24 lines of 80 columns, names what makes the slowest requests of a
# service slow: in one row the cause's share, process, thread, function, and the object that others wait for.
# On an idle machine: whatever else has the CPUs makes requests slow, too. tests/services/ has the services, and what is to be named.
#   requests_first_screen.sh BUILD_DIR [SERVICE...]
. "$(dirname "$0")/../e2e/lib.sh"
shift
needs_bpf
chmod 755 "$tmp"
command -v script >/dev/null || skip "script (util-linux) is not installed"
services=$(cd "$(dirname "$0")/../services" && pwd)
[ $# -gt 0 ] || set -- c go java node postgresql python

# expected NAME WHAT: from NAME.expect.
expected() {
	sed -n "s/^$2[[:space:]]*//p" "$services/$1.expect" | awk -v endpoint="$endpoint" '{ gsub(/ENDPOINT/, endpoint); print }'
}

# Whether threads lack CPUs before the service begins: then that, too, makes its requests slow, and more than its
# cause does.
is_busy() {
	awk '/^some/ { sub(/.*avg10=/, ""); busy = $1 > 25 } END { exit !busy }' /proc/pressure/cpu 2>/dev/null
}
wait_until_idle() {
	for _ in $(seq 60); do
		is_busy || return 0
		sleep 1
	done
	return 1
}

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

# The rows of the service's endpoint on the first screen, each as one line.
rows() {
	script -qec "stty columns 80 rows 24; $walk -q $1" /dev/null </dev/null | tr -d '\r' | head -24 >"$tmp/screen"
	awk -v endpoint="$endpoint " '
		function end_row() {
			if (line) print line
			line = ""
		}
		/^[^ ]/ { end_row(); mine = index($0, endpoint) == 1; next }
		mine && /^ *[0-9.]+ %  / { end_row(); line = $0; next }
		line { sub(/^ +/, " "); line = line $0 }
		END { end_row() }' "$tmp/screen"
}

ran=
for name; do
	wait_until_idle || {
		echo "note: $name: not judged, as the machine has too much to do"
		continue
	}
	record "$name" || continue
	ran="$ran $name"
	rows "$tmp/$name" >"$tmp/rows"
	cp "$tmp/rows" "$tmp/left"
	for what in process thread function object; do
		grep -E -e "$(expected "$name" $what)" "$tmp/left" >"$tmp/next"
		[ -s "$tmp/next" ] || fail "$name, $endpoint: no row has the $what $(expected "$name" $what): $(cat "$tmp/screen")"
		mv "$tmp/next" "$tmp/left"
	done
	share=$(awk '{ printf "%.0f", $1; exit }' "$tmp/left")
	expect_at_least "$name: percent of the slowest requests' time" "$(expected "$name" share)" "$share" "$tmp/screen"
	echo "note: $name: $(head -1 "$tmp/left")"
done
[ "$ran" ] || skip "none of the services can run, or the machine has too much to do"
