#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What disks are asked for: what was done agrees with the kernel's own counts of a device that nobody else uses, and how
# long it took with what bpftrace measures. (diskio.sh: chains that end in what a disk was asked for.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../disks.sh"
needs_bpf
needs_disk

"$cap" --no-block -o "$tmp/none" -- "$load" diskio --dir "$dir" --rounds 20 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --no-block" 0 $?
"$walk" -f events "$tmp/none" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?
expect_at_least "events with --no-block" 100 "$(wc -l <"$tmp/events")" "$tmp/err"
expect "disk requests with --no-block" "" "$(grep -m1 -e ' asks ' -e ' done ' "$tmp/events")"

# ---- a device of our own -----------------------------------------------------------------------
truncate -s 64M "$tmp/image"
make_loop "$tmp/image"
name=${loop#/dev/}
number=$(($(stat -c '0x%t' "$loop") << 20 | $(stat -c '0x%T' "$loop")))
compared=
if can_compare bpftrace; then
	bpftrace -e "
		tracepoint:block:block_getrq /args->dev == $number/ { @asked[args->sector] = nsecs; }
		tracepoint:block:block_rq_issue /args->dev == $number/ { @at[args->sector] = nsecs; }
		tracepoint:block:block_rq_issue /args->dev == $number && @asked[args->sector]/ {
			@queued = count(); @queued_ns = sum(nsecs - @asked[args->sector]); delete(@asked[args->sector]); }
		tracepoint:block:block_rq_complete /args->dev == $number && @at[args->sector]/ {
			@n = count(); @ns = sum(nsecs - @at[args->sector]); delete(@at[args->sector]); }
		END { clear(@at); clear(@asked); }" >"$tmp/bpftrace" 2>&1 &
	bpftrace=$!
	started="$started $bpftrace"
	while is_running "$bpftrace" && ! grep -q Attach "$tmp/bpftrace"; do
		sleep 0.1
	done
	sleep 1
	# Kernels have not all had these tracepoints and fields.
	why_not="bpftrace cannot record disk requests here: $(tail -n 1 "$tmp/bpftrace")"
	! is_running "$bpftrace" || compared=yes
fi
record_asked "$loop" "/sys/block/$name"
expect_counts "$name"
[ "$compared" ] || { echo "note: $why_not"; exit 0; }
end_bpftrace "$bpftrace"
# compare WHAT COUNT SUM: our mean of a time beside bpftrace's, which has it in @COUNT and @SUM.
compare() {
	theirs=$(awk -v n="@$2:" -v ns="@$3:" '$1 == n { count = $2 } $1 == ns { sum = $2 }
		END { printf "%.0f %.0f", count, count ? sum / count : 0 }' "$tmp/bpftrace")
	ours=$(awk -v what="$2" '{
		asked = at = ""
		for (i = 1; i < NF; i++) {
			if ($i == "asked") asked = $(i + 1)
			if ($i == "for") at = $(i + 1)
		}
		if (at == "" || (what == "queued" && asked == "")) next
		n++
		ns += what == "queued" ? asked - at : at
	} END { printf "%.0f %.0f", n, n ? ns / n : 0 }' "$tmp/done")
	expect_at_least "requests with a time $1, of ${theirs% *} of bpftrace's" $((${theirs% *} * 95 / 100)) "${ours% *}" "$tmp/bpftrace"
	# Two recorders are not called at the same time: some microseconds for each.
	expect_at_least "mean time $1, ns, beside bpftrace's" $((${theirs#* } * 8 / 10 - 10000)) "${ours#* }"
	expect_at_most "mean time $1, ns, beside bpftrace's" $((${theirs#* } * 12 / 10 + 10000)) "${ours#* }"
	echo "note: $1 $ours (requests, mean ns), by bpftrace $theirs"
}
compare "at the device" n ns
# From when the thread got a request: what it spends in the thread's own list (block_rq_insert ends that) counts.
compare "in the queue" queued queued_ns
