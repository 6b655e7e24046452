#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All attackers at once, for half a minute: what innocent programs and services are told by then, and what is said to be
# missing. An hour of it is bench/hostile.sh.
. "$(dirname "$0")/lib.sh"
only_all "it starts hundreds of processes"
needs_more "interpreted code"
for tool in cc python3 setpriv; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
bash "$(dirname "$0")/../../bench/hostile.sh" "$build" 30 >"$tmp/told" 2>&1
status=$?
grep -E '^[a-z]+: [0-9]+ by its own clock' "$tmp/told" | sed 's/^/note: /'
[ $status = 0 ] || fail "bench/hostile.sh: $(cat "$tmp/told")"
