#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stack whose rules are read late is complete in the end: here the readers are stopped while a program runs of which
# nothing is known yet. Its events do not wait; each has its stack nevertheless.
# Beside another: it judges stacks of its own threads, however long anything takes.
. "$(dirname "$0")/lib.sh"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
begin_recording "$tmp/trace" -F 0 600
for _ in 1 2 3 4 5 6 7 8 9 10; do # on a busy machine a reader may start late
	"$load" relay --rounds 1 >/dev/null || fail "the load does not run"
	stopped=$(readers "$recorder")
	[ ! "$stopped" ] || break
	sleep 0.2
done
[ "$stopped" ] || fail "nobody reads rules"
# shellcheck disable=SC2086 # a list
kill -STOP $stopped
cp "$load" "$tmp/program"
"$tmp/program" relay --rounds 5 --hops pipe >"$tmp/told" || fail "the load does not run"
# shellcheck disable=SC2086
kill -CONT $stopped
end_recording
"$walk" -q -v -U -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
for name in alpha bravo charlie delta; do
	TID=$(tid $name) awk '
		/^\t/ { frames++; if (/_(waits|sleeps)\+/) named++; next }
		asleep && !frames { none++ }
		{ asleep = $3 == "switch" && $4 ~ "/" ENVIRON["TID"] "$" && $5 == "S"; frames = asleep ? 0 : 1 }
		END { printf "%.0f %.0f\n", none, named }' "$tmp/events" >"$tmp/sums"
	read -r none named <"$tmp/sums"
	expect "sleeps of $name without a user stack" 0 "$none"
	expect_at_least "sleeps of $name in its own function" 1 "$named" "$tmp/sums"
done
