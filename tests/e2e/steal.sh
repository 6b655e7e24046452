#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a hypervisor took from a virtual machine's CPUs: the trace has what the kernel's own counter grew by.
. "$(dirname "$0")/lib.sh"
needs_bpf

# Hundredths of a second since boot, of all CPUs.
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}
grown() {
	[ "$(stolen)" -ge "$1" ]
}

cpus=$(grep -c '^cpu[0-9]' /proc/stat)
# Every CPU is busy, and switches often.
i=0
while [ $i -lt "$cpus" ]; do
	"$load" relay --hops pipe --seconds 60 --rounds 100000000 --work 1000 >"$tmp/told.$i" 2>&1 &
	started="$started $!"
	i=$((i + 1))
done
before=$(stolen)
begin_recording "$tmp/trace"
from=$(stolen)
# More than what rounding may do.
i=0
while [ $i -lt 120 ] && ! grown $((from + 2 * cpus + 2)); do
	sleep 0.1
	i=$((i + 1))
done
to=$(stolen)
end_recording
after=$(stolen)
[ "$after" -gt 0 ] || skip "no hypervisor has ever taken anything here"

ours=$("$walk" -q -f info "$tmp/trace" | sed -n 's/^hypervisor_took_ns: //p')
echo "note: ${ours:-0} ns here, $((to - from)) to $((after - before)) hundredths of a second in /proc/stat"
# /proc/stat rounds each CPU's sum down. What comes before a CPU's first switch is not told.
[ "${ours:-0}" -ge $(((to - from - cpus) * 10000000)) ] && [ "${ours:-0}" -le $(((after - before + cpus) * 10000000)) ] ||
	fail "the trace has ${ours:-0} ns, /proc/stat $((to - from)) to $((after - before)) hundredths of a second on $cpus CPUs"

"$walk" -q --all -f events "$tmp/trace" >"$tmp/events"
expect "the events' sum" "${ours:-0}" "$(awk '$3 == "steal" { sum += $5 } END { printf "%.0f\n", sum }' "$tmp/events")"
"$walk" -q --all -f threads --unit ns "$tmp/trace" >"$tmp/threads"
[ "${ours:-0}" -eq 0 ] || head -n 1 "$tmp/threads" | grep -q ' STEAL' || fail "no column:
$(cat "$tmp/threads")"
# No thread lost more than the CPUs did.
awk 'NR == 1 { end = index($0, "STEAL") + 4 }
	/all of them/ { line = substr($0, 1, end); sub(/.* /, "", line); print line }' "$tmp/threads" >"$tmp/sum"
[ "${ours:-0}" -eq 0 ] || [ "$(cat "$tmp/sum")" -le "$ours" ] || fail "threads lost $(cat "$tmp/sum") ns of $ours"
# The summary says it from a thousandth of the CPUs' time on.
"$walk" --all -f threads "$tmp/trace" 2>"$tmp/summary" >/dev/null
says=$(grep -c "^the hypervisor took [0-9.]* s of the CPUs' time, [0-9.]* %\$" "$tmp/summary")
expect "a line of the summary" "$(awk -v ours="${ours:-0}" -v ns="$(duration "$tmp/trace")" -v cpus="$cpus" \
	'BEGIN { print (ours > 0 && ours * 1000 >= ns * cpus) + 0 }')" "$says"
