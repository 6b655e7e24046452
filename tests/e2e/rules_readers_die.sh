#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The processes that read call frame information for the recorder have no rights, and are recorded
# like any other program. When they are killed all the time, that costs some rules: no event, and
# the recording goes on.
# Beside another: accounts hold whatever is lost.
. "$(dirname "$0")/lib.sh"
needs_bpf

# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"

begin_recording "$tmp/trace" 30
killed=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	# New programs, so new files and new rules.
	cp "$load" "$tmp/program"
	"$tmp/program" relay --rounds 20 --hops tcp,unix,pipe >/dev/null || fail "the load does not run"
	rm "$tmp/program"
	for reader in $(readers $recorder); do
		rights=$(awk '$1 == "CapPrm:" { print $2 }' "/proc/$reader/status" 2>/dev/null)
		[ "$rights" ] || continue # it has ended
		expect "capabilities of $reader" 0000000000000000 "$rights"
		kill -KILL "$reader" && killed=$((killed + 1))
	done
done
end_recording
[ $killed -gt 3 ] || fail "only $killed readers were there to be killed"
grep 'counts differ' "$tmp/err" && fail "events are missing"
died=$(sed -n 's/^chaincap: unwinding: readers of rules died \([0-9]*\) .*/\1/p' "$tmp/err")
echo "note: $killed were killed, the recorder noticed ${died:-0} times"
[ "${died:-0}" -gt 0 ] || fail "nobody missed them: $(cat "$tmp/err")"
"$walk" -q --state=all -c '^alpha' "$tmp/trace" >"$tmp/folded" 2>&1 ||
	"$walk" -q --state=all "$tmp/trace" >"$tmp/folded"
[ -s "$tmp/folded" ] || fail "the trace explains nothing"
