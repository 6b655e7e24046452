#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --follow in a folder into which strangers write: what they put there is not shown, holds nothing up and does nothing
# to the terminal; the recorder's own traces are shown all the while.
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data
[ "$(id -u)" = 0 ] || skip "needs root, to be another user"
command -v python3 >/dev/null || skip "no python3"
chmod 755 "$tmp"
mkdir "$tmp/traces"
chmod 1777 "$tmp/traces"
cat >"$tmp/stranger.py" <<'END_PY'
import fcntl, os, shutil, signal, sys, time
folder, trace = sys.argv[1:]
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
def come(name):
    os.rename(os.path.join(folder, "part"), os.path.join(folder, name))
def put(name, of=None):
    with open(os.path.join(folder, "part"), "wb") as f:
        f.write(open(of, "rb").read() if of else b"junk")
    come(name)
def link(to, name):
    os.symlink(to, os.path.join(folder, "part"))
    come(name)
os.mkfifo(os.path.join(folder, "part"))
come("fifo.bin")
link("/dev/zero", "device.bin")
link(trace, "link.bin")
put("forged.bin", trace)
put("a\033]0;title\007\x85.bin")
# Who opens a file that somebody else has a lease of waits until that is given up, for 45 s.
signal.signal(signal.SIGIO, signal.SIG_IGN)
put("leased", trace)
fd = os.open(os.path.join(folder, "leased"), os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.rename(os.path.join(folder, "leased"), os.path.join(folder, "leased.bin"))
print("ready", flush=True)
time.sleep(300)
END_PY
"$walk" -q --follow "$tmp/traces" >"$tmp/out" 2>"$tmp/err" &
pid=$!
started="$started $pid"
wait_for "it watches" 2 watches "$pid"
cp "$data/pingpong.bin" "$tmp/trace.bin"
: >"$tmp/stranger"
python3 "$tmp/stranger.py" "$tmp/traces" "$tmp/trace.bin" >"$tmp/stranger" &
started="$started $!"
wait_for "the stranger's files" 3 grep -q ready "$tmp/stranger"
appear own.bin "$data/relay.bin"
wait_for "the recorder's trace" 2 grep -q '^== own.bin' "$tmp/out"
expect "which are shown" "== own.bin" "$(grep -a '^==' "$tmp/out")"
for name in fifo device link forged leased; do
	grep -q "^chainwalk: $name.bin: not shown: " "$tmp/err" || fail "no word on $name.bin: $(cat "$tmp/err")"
done
grep -q '^chainwalk: a?]0;title??\.bin: not shown' "$tmp/err" || fail "no word on a file with an odd name: $(cat "$tmp/err")"
! LC_ALL=C grep -a "$(printf '[\033\007\302]')" "$tmp/out" "$tmp/err" || fail "a file's name has control characters"
# So has one on the command line.
echo junk >"$tmp/$(printf 'b\033c.bin')"
"$walk" "$tmp/$(printf 'b\033c.bin')" >"$tmp/out" 2>"$tmp/err"
grep -q 'b?c.bin: neither a trace' "$tmp/err" || fail "a name's control characters: $(cat -v "$tmp/err")"

# A screen that does not come does not hold up its end.
"$build/bench/generate" --events 3000000 "$tmp/large.bin" >/dev/null || fail "no large trace"
child_of() {
	child=$(pgrep -P "$pid")
}
mv "$tmp/large.bin" "$tmp/traces/.large"
mv "$tmp/traces/.large" "$tmp/traces/large.bin"
wait_for "the process that shows it" 3 child_of
kill -STOP "$child"
kill -TERM "$pid"
ends() {
	! is_running "$pid"
}
wait_for "its end" 1 ends
! is_running "$child" || fail "the process that shows a trace is left"
