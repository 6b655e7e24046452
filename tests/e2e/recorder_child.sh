#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the recorder's child does before it becomes the command is the recorder's: the command's life begins at
# its exec, with its own name, and nothing is unknown of it.
# Beside another: what counts is what is recorded of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
timeout 300 "$cap" -F 4000 -o "$tmp/trace" -- taskset -c 0 sh -c 'sleep 0.3; kill -0 $$; echo $$' >"$tmp/pid" 2>"$tmp/err"
expect_exit "chaincap -- taskset -c 0 sh" 0 $?
pid=$(cat "$tmp/pid")
"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?
# The kernel may have to read the program before.
first=$(grep -E "(^|[ >])[^ ]*/$pid( |\$)" "$tmp/events" | awk '$3 != "asks" && $3 != "done" { print $3 }' | head -n 2 | xargs)
expect "the first events of the command" "rename exec" "$first" "$tmp/events"
grep -q ' recorder had the CPU for the last ' "$tmp/events" || fail "the recorder never had a CPU"

"$walk" -q -f threads "$tmp/trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk -f threads" 0 $?
awk -v pid="$pid" '$1 == pid { n++; name = $3; unknown = $8 }
	END { printf "%s, unknown for %s ms\n", name, unknown; exit !(n == 1 && name == "sh" && unknown == 0) }' "$tmp/threads" ||
	[ "$(holes "$tmp/trace")" -gt 0 ] || fail "the command's own line in
$(cat "$tmp/threads")"
exit 0
