#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A flight recorder's files follow the rules of every trace: their owner's only, never through a link,
# never in use by another recorder; and what cannot be written is said: at the start if it can be known
# then. None overwrites another one.
# Beside another: it is about the files.
. "$(dirname "$0")/lib.sh"
needs_bpf

refused() {
	timeout 300 "$cap" -o "$2" --flight 1s 0.3 >"$tmp/out" 2>"$tmp/err"
	expect_exit "$1" 1 $?
	expect_one_line "$1"
}
echo precious >"$tmp/victim"
ln -s "$tmp/victim" "$tmp/link"
refused "onto a symbolic link" "$tmp/link"
refused "into a folder that is not there" "$tmp/nowhere/trace"
refused "into a folder" "$tmp"
mkfifo "$tmp/fifo"
refused "into a pipe" "$tmp/fifo"
echo theirs >"$tmp/theirs"
chown 65534 "$tmp/theirs"
refused "over another user's file" "$tmp/theirs"
expect "what the link points to" precious "$(cat "$tmp/victim")"
expect "the other user's file" theirs "$(cat "$tmp/theirs")"

# A trace that is there is never overwritten: the next free number is taken.
echo yesterday >"$tmp/kept"
echo earlier >"$tmp/kept.1"
fly "$tmp/kept" --flight 1s
end_recording
expect "the file of -o" yesterday "$(cat "$tmp/kept")"
expect "the file with the next number" earlier "$(cat "$tmp/kept.1")"
expect_whole "$tmp/kept.2"
expect "mode" 600 "$(stat -c %a "$tmp/kept.2")"

# The file of -o keeps a second recorder away, also one without --flight, until the first one has ended.
fly "$tmp/new" --flight 1s
refused "into the file of another flight recorder" "$tmp/new"
timeout 300 "$cap" -o "$tmp/new" 0.3 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap into the file of a flight recorder" 1 $?
expect_one_line "chaincap into the file of a flight recorder"
grep -q "$tmp/new: another recorder is writing it" "$tmp/err" || fail "the reason is missing: $(cat "$tmp/err")"

# A link that is planted later is not followed.
ln -s "$tmp/victim" "$tmp/new.1"
kill -USR1 $recorder
wait_for "the first trace" 10 written "$tmp/new"
kill -USR1 $recorder
wait_for "the next trace" 10 written "$tmp/new.2"
end_recording
expect "what the link points to" precious "$(cat "$tmp/victim")"
for n in "" .2 .3; do
	expect_whole "$tmp/new$n"
done
"$cap" -o "$tmp/new" 0.1 2>"$tmp/err"
expect_exit "chaincap into the file when the flight recorder has ended" 0 $?

# --max-dumps: it ends after the second one, by itself.
fly "$tmp/two" --flight 1s --max-dumps 2
kill -USR1 $recorder
wait_for "the first of two" 10 written "$tmp/two"
kill -USR1 $recorder
wait $recorder
expect_exit "chaincap --max-dumps 2" 0 $?
expect_whole "$tmp/two.1"
[ ! -e "$tmp/two.2" ] || fail "a third trace with --max-dumps 2"

# A full disk: said, and the recording goes on.
mkdir "$tmp/small"
mount -t tmpfs -o size=100k tmpfs "$tmp/small" || fail "no tmpfs can be mounted"
mounted=$tmp/small
busy 600
busy=$!
started="$started $busy"
fly "$tmp/small/trace" --flight 5s
sleep 2
kill -USR1 $recorder
wait_for "the full disk is said" 10 grep -q "$tmp/small/trace: No space left" "$tmp/err.cap"
mount -o remount,size=64m "$tmp/small"
kill -USR1 $recorder
wait_for "the next trace" 10 written "$tmp/small/trace.1"
expect_whole "$tmp/small/trace.1"
"$walk" -q "$tmp/small/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk of what was written onto the full disk" "0 3" $?
end_recording 1 # for the one that could not be written
kill $busy

# Under sudo, in a folder that only the user may enter: the files are the user's, though the recorder has
# long given up the right to write there by itself.
mkdir "$tmp/home"
chown 65534:65534 "$tmp/home"
chmod 700 "$tmp/home"
SUDO_UID=65534 SUDO_GID=65534
export SUDO_UID SUDO_GID
fly "$tmp/home/trace" --flight 1s
rights=$(awk '$1 == "CapEff:" { print $2 }' "/proc/$recorder/status")
expect "the recorder's rights to override, own and chown files" 0 $((0x$rights & 0xb))
end_recording
expect "whose file it is" 65534 "$(stat -c %u "$tmp/home/trace")"
expect_whole "$tmp/home/trace"
