#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel verifies what records a switch or a waking with its stacks once, which takes most of the CPU time
# of the start: what is attached to the three tracepoints is small, and goes on to one program.
# Beside another: it looks at its own recorder's programs.
. "$(dirname "$0")/lib.sh"
needs_bpf
PATH=$PATH:/usr/sbin
command -v bpftool >/dev/null || skip "no bpftool"

"$cap" -q -o "$tmp/trace" 20 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
wait_for "chaincap records" 15 has_bytes "$tmp/trace" 2000
bpftool prog show >"$tmp/shown" || fail "bpftool: exit $?"
cat "/proc/$recorder/fdinfo/"* 2>/dev/null | grep '^prog_id:' >"$tmp/ids"
kill -INT $recorder
wait $recorder
expect_exit "chaincap" 0 $?

# "NAME BYTES" of each of this recorder's: there may be others beside it.
awk 'NR == FNR { mine[$2 ":"]; next }
	/^[0-9]+:/ { name = $1 in mine && $2 == "raw_tracepoint" ? $4 : "" }
	$1 == "xlated" { if (name ~ /^on_(stacks|switch|waking|wakeup_new)$/) print name, $2; name = "" }' \
	"$tmp/ids" "$tmp/shown" | sort -u >"$tmp/programs"
expect "the programs" "on_stacks on_switch on_wakeup_new on_waking" "$(cut -d ' ' -f 1 "$tmp/programs" | xargs)"
expect "those that are large" on_stacks "$(awk '$2 + 0 > 1000 { print $1 }' "$tmp/programs" | xargs)"
