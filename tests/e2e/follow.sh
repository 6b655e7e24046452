#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --follow shows the first screen of each trace that gets its name in a folder, whatever else appears there; on a
# terminal keys show an example, pause, save the trace and end it.
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data
mkdir "$tmp/traces" "$tmp/here"
has_headings() {
	[ "$(grep -c '^== ' "$tmp/out")" -ge "$1" ]
}
appear before.bin "$data/pingpong.bin"
"$walk" -q --follow "$tmp/traces" >"$tmp/out" 2>"$tmp/err" &
pid=$!
started="$started $pid"
wait_for "it watches" 2 watches "$pid"
appear a.bin "$data/relay.bin"
wait_for "the first screen" 2 has_headings 1
appear note.txt "$data/pingpong.bin"
echo junk >"$tmp/junk"
appear b.bin "$tmp/junk"
wait_for "the word on what is no trace" 2 has_headings 2
appear c.bin "$data/shop.bin"
wait_for "a screen after what is no trace" 2 has_headings 3
{
	echo "== a.bin"
	"$walk" -q -f causes "$tmp/traces/a.bin"
	echo "== b.bin"
	echo "== c.bin"
	"$walk" -q -f causes "$tmp/traces/c.bin"
} >"$tmp/want"
# Whoever ends it does not wait for a screen.
wait_for "all of the last screen" 2 cmp "$tmp/want" "$tmp/out"
kill -TERM $pid
wait $pid
expect_exit "--follow, after SIGTERM" 0 $?
expect "which are shown" "$(grep '^== ' "$tmp/out")" "== a.bin
== b.bin
== c.bin"
diff "$tmp/want" "$tmp/out" >"$tmp/diff" || fail "not the first screens: $(head -20 "$tmp/diff")"
grep -q 'b.bin: neither a trace' "$tmp/err" || fail "b.bin is no trace, which is not said: $(cat "$tmp/err")"
"$walk" --follow "$tmp/nothing" 2>"$tmp/err"
expect_exit "--follow of no folder" 1 $?
for refused in "-f json" "--against $data/relay.bin" "--live" "-o $tmp/x" "$data/relay.bin"; do
	# shellcheck disable=SC2086 # words
	"$walk" --follow "$tmp/traces" $refused 2>/dev/null
	expect_exit "--follow with $refused" 2 $?
done

command -v python3 >/dev/null || skip "no python3: keys need a terminal"
cat >"$tmp/keys.py" <<'END_PY'
import os, pty, select, sys, time
walk, traces, here, relay, shop = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.chdir(here)
    os.execv(walk, [walk, "-q", "--follow", traces])
seen = ""
def until(text, what):
    global seen
    end = time.monotonic() + 30
    while text not in seen:
        if time.monotonic() > end:
            sys.exit("no %s: %r" % (what, seen))
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 65536).decode("utf-8", "replace")
    seen = seen[seen.index(text) + len(text):]
def put(name, of):
    part = os.path.join(traces, "." + name + ".part")
    with open(of, "rb") as f, open(part, "wb") as g:
        g.write(f.read())
    os.rename(part, os.path.join(traces, name))
time.sleep(1)
put("d.bin", relay)
until("q: end", "screen with its keys")
os.write(fd, b"1")
until("woken by", "example")
until("q: end", "keys below it")
os.write(fd, b"s")
until("saved: d.bin", "saved trace")
os.write(fd, b"s")
until("File exists", "word that it is there already")
os.write(fd, b"p")
until("paused", "pause")
put("e.bin", shop)
time.sleep(1)
os.write(fd, b"0")
until("d.bin", "the screen from before the pause")
os.write(fd, b"p")
until("goes on", "end of the pause")
put("f.bin", shop)
until("f.bin", "the next one")
os.write(fd, b"q")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
END_PY
timeout 120 python3 "$tmp/keys.py" "$walk" "$tmp/traces" "$tmp/here" "$data/relay.bin" "$data/shop.bin" || fail "keys"
cmp "$data/relay.bin" "$tmp/here/d.bin" || fail "the saved trace is another one"
