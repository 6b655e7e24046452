#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file system whose programs have ended can be unmounted while the recording goes on, and the
# functions of these programs have their names in the trace nevertheless, although the file is not
# there any more.
# Beside another: it waits most of the time, and the other recorder must let go, too.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkdir "$tmp/disk"
mount -t tmpfs none "$tmp/disk" || skip "no tmpfs can be mounted here"
mounted=$tmp/disk
cp "$build/chainload-nofp" "$tmp/disk/program"

begin_recording "$tmp/trace" 60
"$tmp/disk/program" relay --rounds 20 --hops pipe >/dev/null || fail "the program does not run"
before=$(date +%s%N)
wait_for "umount (a stopped program is forgotten after 5 s)" 20 unmounts
mounted=''
echo "note: unmounted $((($(date +%s%N) - before) / 1000000)) ms after the program had ended"
kill -0 $recorder 2>/dev/null || fail "the recorder has ended before: no test"
ls "$tmp/disk/program" 2>/dev/null && fail "the program is still there: no test"
end_recording
"$walk" -q "$tmp/trace" >"$tmp/folded"
grep '^alpha;' "$tmp/folded" >"$tmp/alpha" || fail "the program is not in the trace"
grep -q 'alpha_' "$tmp/alpha" || fail "its functions have no names:
$(head -3 "$tmp/alpha")"
grep -q '\[program+0x' "$tmp/alpha" && fail "some of its functions have no names:
$(grep '\[program+0x' "$tmp/alpha" | head -3)"
true
