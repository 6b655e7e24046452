#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light: stacks only of long sleeps, read from the sleeping thread when it is woken. They are those
# that the thread had at its switch-out: the recorder compares (--verify), and so do two recorders of
# the same load, one light and one not. Times are the same as well.
# Beside another: each stack is compared with the same sleep's of another recorder.
. "$(dirname "$0")/lib.sh"
needs_bpf
cat >"$tmp/load" <<END
"$load" relay --rounds 80 --hops tcp,unix,pipe --work 200 --sleep 3000
"$load" relay --rounds 80 --hops futex,eventfd,pipe --work 200 --sleep 3000
"$load" pingpong --rounds 300
"$load" diskio --dir "$tmp" --rounds 20 --seconds 20
END

timeout 300 "$cap" --light 100us --verify -o "$tmp/verified.bin" -- sh "$tmp/load" >/dev/null 2>"$tmp/err"
expect_exit "chaincap --light --verify" 0 $?
line=$(grep '^chaincap: verified:' "$tmp/err") || fail "no verdict: $(cat "$tmp/err")"
in_kernel=$(sed -n 's/^chaincap: of these \([0-9]*\) kernel and [0-9]* user stacks were those of threads asleep$/\1/p' "$tmp/err")
asleep=$(sed -n 's/^chaincap: of these [0-9]* kernel and \([0-9]*\) user stacks were those of threads asleep$/\1/p' "$tmp/err")
echo "note: ${line#chaincap: }; $in_kernel and $asleep of threads asleep"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
[ "$2" -eq 0 ] || fail "$2 kernel stacks differ"
[ "$4" -eq 0 ] || fail "$4 user stacks differ"
[ "${in_kernel:-0}" -gt 100 ] || fail "only $in_kernel kernel stacks of threads asleep were compared"
[ "${asleep:-0}" -gt 100 ] || fail "only $asleep user stacks of threads asleep were compared"

# Both at once: the long sleeps of the load have the same heads in both.
"$cap" -q -o "$tmp/full.bin" 60 2>"$tmp/full.err" &
full=$!
started="$started $full"
wait_for "the full recording" 30 test -s "$tmp/full.bin"
timeout 120 "$cap" -q --light 1ms -o "$tmp/light.bin" -- sh "$tmp/load" >/dev/null 2>"$tmp/err"
expect_exit "chaincap --light" 0 $?
kill -INT "$full"
wait "$full"
"$walk" -q -f info "$tmp/light.bin" >"$tmp/info"
told=$(sed -n 's/^wait_stacks: *//p' "$tmp/info")
[ "${told:-0}" -gt 50 ] || fail "few sleeps have stacks: $(cat "$tmp/info")"
# Of whole stacks: on a busy machine some are cut, and not the same ones in both. A kernel stack that came for the first
# time is not known.
long_sleeps() { "$walk" -q --unit=ns -c '^(alpha|bravo|charlie)$' --state blocked --min 2ms "$1" 2>"$tmp/err" | sed 's/;--;.*\( [0-9]*\)$/\1/'; }
heads() { long_sleeps "$1" | grep '^[a-z]*;\(clone3\|_start\|\[libc[^;]*\);.*;-;' | sed 's/ [0-9]*$//; s/;\[[a-z -]*\]$//' | sort -u; }
long_sleeps "$tmp/light.bin" >"$tmp/long"
expect_at_least "ns of long sleeps with a kernel stack" $(($(weight_of '' "$tmp/long") * 95 / 100)) "$(weight_of ';-;' "$tmp/long")" "$tmp/long"
heads "$tmp/light.bin" >"$tmp/light.heads"
heads "$tmp/full.bin" >"$tmp/full.heads"
[ "$(wc -l <"$tmp/light.heads")" -gt 3 ] || fail "few heads: $(cat "$tmp/light.heads" "$tmp/err")"
! grep -q 'unknown stack\|\[short\]' "$tmp/light.heads" || fail "long sleeps without stacks: $(cat "$tmp/light.heads")"
comm -23 "$tmp/light.heads" "$tmp/full.heads" >"$tmp/other"
[ ! -s "$tmp/other" ] || fail "heads that the full recording lacks: $(cat "$tmp/other") of $(cat "$tmp/full.heads")"
"$walk" "$tmp/light.bin" >"$tmp/folded" 2>"$tmp/summary"
grep -q '^user stacks for \(9[0-9.]*\|100.0\) % of the blocked time' "$tmp/summary" || fail "no word on the stacks: $(cat "$tmp/summary")"
grep -q '\[short\]' "$tmp/folded" || fail "no short sleep: $(head -5 "$tmp/folded")"

# A thread that falls asleep, and is when the recording ends, has its stacks, too.
begin_recording "$tmp/end.bin" --light 1ms
sleep 61 &
started="$started $!"
sleep 2
end_recording
"$walk" -q --not-woken -c '^sleep$' "$tmp/end.bin" 2>/dev/null | grep '\[not woken\]' >"$tmp/folded"
grep -q 'nanosleep.*;\[not woken\] ' "$tmp/folded" || fail "who sleeps on has no stacks: $(cat "$tmp/folded")"
grep -q '^sleep;[^;]*;.*nanosleep;.*-;' "$tmp/folded" || fail "who sleeps on has no user stack: $(cat "$tmp/folded")"
