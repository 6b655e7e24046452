#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a program calls itself reaches the terminal as printable text, in all that the recorder says at once and that
# chainwalk prints later: no C0 or C1 control, no mark that turns the direction of text, no byte that is no UTF-8.
# Beside another: it looks at how its own thread's name is written.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
# U+009B (a C1 control that begins a command), U+202E, a byte that begins no character, and ESC, one name for each.
cat >"$tmp/named.py" <<'END'
import ctypes, time
for name in b"a\xc2\x9b31m", b"b\xe2\x80\xaetxt", b"c\xff\xfe", b"d\x1b[31m":
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
    time.sleep(0.4)
END
fly "$tmp/trace" --flight 1s --trigger-wait 300ms -c '31m$' # of nobody else
python3 "$tmp/named.py"
# The first one triggers; then the window must pass.
wait_for "a trace of a wait of 400 ms" 20 written "$tmp/trace"
sleep 1.2
python3 -c "$(sed 's/^for name in .*:/for name in b"e\\xc2\\x9b31m",:/' "$tmp/named.py")"
end_recording
timeout 300 "$cap" -o "$tmp/all" -- python3 "$tmp/named.py" 2>>"$tmp/err.cap"
for format in tree threads causes events folded objects info; do
	"$walk" --format=$format "$tmp/all" >>"$tmp/said" 2>&1
done
grep -q ' waited 4' "$tmp/err.cap" || fail "no wait is said: $(cat "$tmp/err.cap")"
cat "$tmp/err.cap" "$tmp/said" >"$tmp/text"
python3 - "$tmp/text" >"$tmp/bad" <<'END'
import re, sys
bytes_ = open(sys.argv[1], "rb").read()
text = bytes_.decode("utf-8", errors="surrogateescape")
for bad in re.findall(r".{0,20}[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\udc80-\udcff].{0,20}", text):
    print(repr(bad))
END
expect "unprintable text" "" "$(head -5 "$tmp/bad")"
for name in 'a?31m' 'b?txt' 'c??' 'd?\[31m'; do
	grep -q "$name" "$tmp/said" || fail "$name is nowhere"
done
