# shellcheck shell=sh disable=SC2154 # walk, tmp and endpoint are the test's
# SPDX-License-Identifier: GPL-2.0-or-later
# What a person sees first of a trace, for tests that compare it with NAME.expect; to be sourced after
# tests/e2e/lib.sh. Wants $services, the folder of the services, and $endpoint, that of the service.
command -v script >/dev/null || skip "script (util-linux) is not installed"

# Whether threads lack CPUs before a service begins: then that, too, makes it slow, and more than its cause does.
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

# on_terminal COMMAND: what it prints on a terminal of 80 columns and 24 lines.
on_terminal() {
	script -qec "stty columns 80 rows 24; $1" /dev/null </dev/null | tr -d '\r'
}

# screenful <TEXT: what of it fits on such a terminal, which wraps long lines.
screenful() {
	awk '{ lines += length ? int((length + 79) / 80) : 1 } lines > 24 { exit } { print }'
}

# expected NAME WHAT: from NAME.expect
expected() {
	sed -n "s/^$2[[:space:]]*//p" "$services/$1.expect" | awk -v endpoint="$endpoint" '{ gsub(/ENDPOINT/, endpoint); print }'
}

# rows_of [START] <TEXT: each row as one line: the share, the cause, and what stands below it; only those below a line
# that begins with START.
rows_of() {
	START=${1:-} awk '
		function end_row() {
			if (row) print row
			row = ""
		}
		BEGIN { start = ENVIRON["START"]; mine = !start }
		/^ *[0-9]+\.[0-9] % / { end_row(); if (mine) row = $0; next }
		/^$/ || /^ *SHARE / { end_row(); mine = !start; next }
		/^[^ ]/ { end_row(); mine = !start || index($0, start) == 1; next }
		row { sub(/^ +/, " "); row = row $0 }
		END { end_row() }'
}

# expect_row NAME FILE WHAT...: of the rows in it those with all that is expected, in $tmp/left; fails if there is none.
expect_row() {
	name=$1
	cp "$2" "$tmp/left"
	shift 2
	for what; do
		grep -E -e "$(expected "$name" "$what")" "$tmp/left" >"$tmp/next"
		[ -s "$tmp/next" ] || fail "$name${endpoint:+, $endpoint}: no row has the $what $(expected "$name" "$what"):
$(cat "$tmp/screen")"
		mv "$tmp/next" "$tmp/left"
	done
}

# block_of ENDPOINT <TEXT: what is said of the requests to it: a sentence, their figures, and their chain, a line a link.
block_of() {
	START="Requests to $1 " awk '
		/^Requests to / || /^[0-9]+ of [0-9]+ endpoints/ { mine = index($0, ENVIRON["START"]) == 1 }
		/^[0-9]+ of [0-9]+ endpoints/ { exit }
		mine { print }'
}

# expect_block NAME FILE WHAT...: each of these is on a line of FILE, what block_of printed.
expect_block() {
	name=$1 block=$2
	shift 2
	for what; do
		grep -qE -e "$(expected "$name" "$what")" "$block" ||
			fail "$name${endpoint:+, $endpoint}: there is no $what $(expected "$name" "$what"):
$(cat "$tmp/screen")"
	done
}

# share_of NAME FILE WHAT: the percentage of the first line that has it.
share_of() {
	grep -E -e "$(expected "$1" "$3")" "$2" | sed -n 's/^.* \([0-9]*\) %  .*/\1/p' | head -n 1
}
