#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --every writes one trace after the other, each complete by itself: it begins when the clock says, and has the chains
# and names of what ran then, with a pause between two or without. --keep removes the oldest of its own files. What is
# killed leaves nothing under a trace's name, and a full disk costs the traces of that time.
# Beside another: its bounds are for its own threads, and hold on a busy machine.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3: nothing tells when traces begin"
host=$(uname -n | sed 's/^[^A-Za-z0-9]/_/; s/[^A-Za-z0-9.-]/_/g')
traces() {
	find "$1" -name "$host-*Z*.bin" | sort
}
has_traces() {
	[ "$(traces "$2" | wc -l)" -ge "$1" ]
}
# at_second TRACE: the time in its name, in seconds since 1970
at_second() {
	at=${1##*-}
	date -u -d "$(echo "$at" | sed 's/\(....\)\(..\)\(..\)T\(..\)\(..\)\(..\)Z.*/\1-\2-\3 \4:\5:\6/')" +%s
}

# A relay that goes on all the time. Its rules are read before the first recording, or in it.
"$load" relay --hops pipe --work 500,500,500 --rounds 1000000 --seconds 900 >"$tmp/told" &
started="$started $!"
# What tells the time: a new name every 5 ms, with the clock's time before and after it. The names are its own, should
# another one run as well.
cat >"$tmp/ticker.py" <<'END_PY'
import os, sys, time
n = 0
name = "t%d." % (os.getpid() % 1000000)
with open(sys.argv[1], "w", buffering=1) as log:
    while True:
        n += 1
        before = time.time_ns()
        with open("/proc/self/comm", "w") as f:
            f.write(name + str(n))
        log.write("%s%d %d %d\n" % (name, n, before, time.time_ns()))
        time.sleep(0.005)
END_PY
nice -n -5 python3 "$tmp/ticker.py" "$tmp/ticks" &
ticker=$!
started="$started $ticker"
wait_for "the clock ticks" 60 has_bytes "$tmp/ticks" 1000
# ticks_in TRACE: their names, in order
ticks_in() {
	"$walk" -q --format=events "$1" 2>/dev/null |
		awk -v tick="t$((ticker % 1000000))." '$3 == "rename" && index($NF, tick) == 1 { print $NF }'
}

# expect_begins TRACE: at the second in its name, as the ticks tell. Late by half of --every at most, as on a busy
# machine, and then the trace says so itself; it is never early.
expect_begins() {
	"$walk" -q --format=events "$1" >"$tmp/events" 2>"$tmp/err"
	expect_exit "chainwalk --format=events" 0 $?
	python3 - "$tmp/ticks" "$tmp/events" "$(at_second "$1")" >"$tmp/offset" <<'END_PY'
import sys
ticks = {w[0]: (int(w[1]), int(w[2])) for w in (line.split() for line in open(sys.argv[1])) if len(w) == 3}
least, most = -10**30, 10**30
for line in open(sys.argv[2]):
    w = line.split()
    if w[2] == "rename" and w[-1] in ticks:
        before, after = ticks[w[-1]]
        at = int(w[0].replace(".", ""))
        least, most = max(least, before - at), min(most, after - at)
begin = int(sys.argv[3]) * 10**9
print("no ticks" if most == 10**30 else "%d %d" % ((least - begin) // 1000, (most - begin) // 1000))
END_PY
	# The beginning lies between both. The clock that is slewed may differ by 1 ms from what it was.
	awk '{ exit !(NF == 2 && $1 + 0 == $1 && $2 >= -1000 && $1 <= 1000000 && $1 <= $2 + 1000) }' "$tmp/offset" ||
		fail "$1 begins, in us after its second: $(cat "$tmp/offset")"
}

# expect_complete TRACE: nothing lost or missing. Counts it in $chains if the relay's chain is in it, with the names of
# all threads, and in $names if the functions have names, too, for which there is little time on a busy machine.
expect_complete() {
	expect_whole "$1"
	walk_to "$tmp/folded" --state=all -t "$(tid alpha)" "$1"
	! by_threads <"$tmp/folded" | grep -q '^alpha;--;bravo;--;charlie;--;delta;' || chains=$((chains + 1))
	! grep -q '^alpha;.*;alpha_waits;.*;--;.*bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || names=$((names + 1))
}

# --- with a pause --------------------------------------------------------------------------------
mkdir "$tmp/paused"
fly "$tmp/paused" --every 6s --for 500ms
wait_for "three traces" 120 has_traces 3 "$tmp/paused"
end_recording
chains=0 names=0
for trace in $(traces "$tmp/paused"); do
	expect "$trace: its second, modulo --every" 0 $(($(at_second "$trace") % 6))
	expect_begins "$trace"
	expect_complete "$trace"
	expect "the mode of $trace" 600 "$(stat -c %a "$trace")"
	length=$(duration "$trace")
	expect_at_most "the length of $trace, ns" 500000000 "$length"
done
# The first one may be too early for rules of the relay's code, and the last one have been cut off by the end.
expect_at_least "traces with the chain, of $(traces "$tmp/paused" | wc -l)" 2 $chains "$tmp/err.cap"
expect_at_least "traces with the chain's functions" 1 $names "$tmp/err.cap"
expect "what else is in the folder" "" "$(find "$tmp/paused" -type f ! -name "$host-*.bin")"

# What happened in the pauses is in none of them: the ticks of a trace are within half a second.
for trace in $(traces "$tmp/paused"); do
	ticks_in "$trace" >"$tmp/in"
	awk 'NR == FNR { seen[$1]; next } $1 in seen { if (!from) from = $2; to = $2 }
		END { exit !(substr(to, 1, length(to) - 6) - substr(from, 1, length(from) - 6) <= 501) }' \
		"$tmp/in" "$tmp/ticks" || fail "$trace has ticks of more than half a second"
done

# --- all the time --------------------------------------------------------------------------------
mkdir "$tmp/all"
fly "$tmp/all" --every 5s
wait_for "three traces" 120 has_traces 3 "$tmp/all"
end_recording
chains=0 names=0 end=''
: >"$tmp/in"
for trace in $(traces "$tmp/all"); do
	expect_begins "$trace"
	expect_complete "$trace"
	# Without a gap: the next one begins where this one ended.
	[ -z "$end" ] || expect "the second of $trace, after $end" "$end" "$(at_second "$trace")"
	end=$(($(at_second "$trace") + ($(duration "$trace") + 500000000) / 1000000000)) # the clock may be slewed
	ticks_in "$trace" >>"$tmp/in"
done
expect_at_least "traces with the chain" 2 $chains "$tmp/err.cap"
expect_at_least "traces with the chain's functions" 1 $names "$tmp/err.cap"
# No event is in two of them, and none in none.
expect "ticks that are missing, or come twice" "" "$(awk '
	{ n = $1; sub(/.*[.]/, "", n); n += 0 }
	NR > 1 && n != last + 1 { printf "%.0f %.0f\n", last, n }
	{ last = n }' "$tmp/in")"
expect_at_least "ticks" 100 "$(wc -l <"$tmp/in")"

# --- --keep, and who else has files there --------------------------------------------------------
mkdir "$tmp/keep"
dd if=/dev/zero of="$tmp/keep/$host-20200101T000000Z.bin" bs=1M count=3 2>/dev/null
dd if=/dev/zero of="$tmp/keep/$host-20200101T000100Z.bin" bs=1M count=3 2>/dev/null
for other in "$host-20200101T000000Z.txt" "other-$host-20200101T000000Z.bin" trace.bin; do
	dd if=/dev/zero of="$tmp/keep/$other" bs=1M count=3 2>/dev/null
done
dd if=/dev/zero of="$tmp/keep/$host-20190101T000000Z.bin" bs=1M count=3 2>/dev/null
chown 65534 "$tmp/keep/$host-20190101T000000Z.bin"
echo half >"$tmp/keep/.$host-20200101T000200Z.bin.part"
fly "$tmp/keep" --every 2s --for 200ms --keep 4M --max-dumps 1
wait "$recorder"
expect_exit "chaincap --max-dumps 1" 0 $?
expect "files left by --keep" "$(printf '%s\n' "$host-20190101T000000Z.bin" "$host-20200101T000000Z.txt" \
	"other-$host-20200101T000000Z.bin" trace.bin | sort)" "$(find "$tmp/keep" -type f -printf '%f\n' |
	grep -v "^$host-202[1-9]\|^$host-20200101T000100Z.bin" | sort)"
expect "traces of the recorder's own that are left" 1 "$(traces "$tmp/keep" | grep -c "$host-202[1-9]")"
own=$(traces "$tmp/keep" | grep "$host-202" | xargs cat | wc -c)
expect_at_most "bytes of the recorder's own files" 4194304 "$own"

# --- a second recorder, and one that is killed ---------------------------------------------------
mkdir "$tmp/killed"
fly "$tmp/killed" --every 2s --for 1s
timeout 300 "$cap" -o "$tmp/killed" --every 2s 1 >"$tmp/out" 2>"$tmp/err"
expect_exit "a second recorder in the folder" 1 $?
grep -q 'another recorder is writing it' "$tmp/err" || fail "the reason is missing: $(cat "$tmp/err")"
is_writing() {
	[ "$(find "$tmp/killed" -name '.*.part')" ]
}
wait_for "a trace is being written" 60 is_writing
writer=$(cat "/proc/$recorder/task/$recorder/children")
kill -KILL "$recorder"
# shellcheck disable=SC2086 # several
kill -KILL $writer 2>/dev/null
wait "$recorder" 2>/dev/null
for trace in $(traces "$tmp/killed"); do
	expect_whole "$trace"
done
unlocked() {
	! timeout 300 "$cap" -o "$tmp/killed" --every 2s 0.1 2>&1 | grep -q 'another recorder'
}
wait_for "the folder is free" 60 unlocked
expect "what the killed one left, after the next start" "" "$(find "$tmp/killed" -name '.*part')"

# --- a full disk ---------------------------------------------------------------------------------
mkdir "$tmp/small"
mount -t tmpfs -o size=8k tmpfs "$tmp/small" || fail "no tmpfs can be mounted"
mounted=$tmp/small
fly "$tmp/small" --every 3s --for 500ms
wait_for "the full disk is said" 60 grep -q "$tmp/small/$host-.*: No space left" "$tmp/err.cap"
expect "traces on the full disk" "" "$(traces "$tmp/small")"
mount -o remount,size=64m "$tmp/small"
wait_for "a trace when there is room" 60 has_traces 1 "$tmp/small"
expect_whole "$(traces "$tmp/small" | head -n 1)"
end_recording 1 # for those that could not be written
