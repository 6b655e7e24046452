#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --show N of recorded services: the rows of the slow request and of the usual one are partitions of the two, to what is
# too short to be told; what the service's users wait for is marked; no line is longer than the screen.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/services" && pwd)
while read -r service row of what; do
	# shellcheck disable=SC2086 # an option, or none
	"$walk" -q ${of#threads} --show "$row" "$data/$service.bin" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk --show of $service" 0 $?
	sed '/^$/q' "$tmp/out" >"$tmp/rows"
	grep -Eq -e "$what" "$tmp/rows" || fail "$service: no row like '$what': $(cat "$tmp/rows")"
	expect_at_most "$service: width" 80 "$(awk '{ if (length > max) max = length } END { print max }' "$tmp/rows")" "$tmp/rows"
	# The title has both lengths; a tenth may be too short to be told.
	tr '\n' ' ' <"$tmp/rows" | sed 's/.* that took \([0-9. ]*\) ms.* of [0-9]*, *\([0-9. ]*\) ms:.*/\1;\2/; s/ //g' >"$tmp/title"
	awk -F';' 'NR == FNR { slow = $1; usual = $2; next }
		/^ *\+[0-9]/ { at[0] = substr($0, 11, 10); at[1] = substr($0, 21, 10); for (i in at) { gsub(/[ -]/, "", at[i]); sum[i] += at[i] } }
		END { if (sum[0] < 0.9 * slow || sum[0] > slow + 0.01 || sum[1] < 0.8 * usual || sum[1] > usual + 0.01) {
			printf "slow %s told %.3f, usual %s told %.3f\n", slow, sum[0], usual, sum[1]; exit 1 } }' "$tmp/title" "$tmp/rows" >"$tmp/sums" ||
		fail "$service: $(cat "$tmp/sums" "$tmp/rows")"
done <<'END'
c 1 threads ! slept in read < ask_redis
postgresql 1 --requests ! slept in epoll_wait < WaitEvent
python 1 --requests ! slept in futex_do_wait
END
exit 0
