#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --no-java, --no-node, --no-ruby, --no-python, --no-php: each leaves out the functions of its language, and of no other.
# Beside another: it looks for the functions of its own programs.
. "$(dirname "$0")/lib.sh"
needs_usual "interpreted code"
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
cat >"$tmp/Naps.java" <<'END'
public class Naps {
	static void javaNaps() throws InterruptedException { for (;;) Thread.sleep(5); }
	public static void main(String[] unused) throws InterruptedException { javaNaps(); }
}
END
cat >"$tmp/naps.js" <<'END'
const cell = new Int32Array(new SharedArrayBuffer(4));
function nodeNaps() { for (;;) Atomics.wait(cell, 0, 0, 5); }
nodeNaps();
END
cat >"$tmp/naps.rb" <<'END'
def ruby_naps = loop { sleep 0.005 }
ruby_naps
END
cat >"$tmp/naps.py" <<'END'
import time
def python_naps():
    while True:
        time.sleep(0.005)
python_naps()
END
cat >"$tmp/naps.php" <<'END'
<?php
function php_naps() {
	while (true)
		usleep(5000);
}
php_naps();
END
languages='' pids=''
# nap LANGUAGE COMMAND...: if it is here
nap() {
	command -v "$2" >/dev/null || { echo "note: no $2"; return; }
	language=$1
	shift
	"$@" &
	started="$started $!" languages="$languages $language" pids="$pids -p $!"
}
if command -v java >/dev/null && java -version 2>&1 | grep -qE 'version "(11|17|21)\.' && javac -d "$tmp" "$tmp/Naps.java"; then
	nap java java -cp "$tmp" Naps
else
	echo "note: no JDK 11, 17 or 21"
fi
nap node node "$tmp/naps.js"
nap ruby ruby "$tmp/naps.rb"
nap python /usr/bin/python3 "$tmp/naps.py"
nap php php "$tmp/naps.php"
[ "$languages" ] || skip "none of these languages is here"

# functions_of LANGUAGE: how many lines have its function, with its file.
functions_of() { grep -cE ";[^;]*$1_?[nN]aps \\((Naps\\.java|naps\\.)" "$tmp/folded"; }
# seen LEFT_OUT SECONDS: whether a recording has the functions of all others; and it must not have those that are left out.
seen() {
	# shellcheck disable=SC2086 # an option, or none
	timeout 120 "$cap" ${1:+--no-$1} -o "$tmp/trace" "$2" 2>"$tmp/err"
	expect_exit "chaincap --no-$1" 0 $?
	# shellcheck disable=SC2086 # a list
	walk_to "$tmp/folded" $pids -U -d 0 --no-ends "$tmp/trace"
	for language in $languages; do
		if [ "$language" = "$1" ]; then
			expect "lines with functions of $language, which is left out" 0 "$(functions_of "$language")"
		else
			[ "$(functions_of "$language")" -gt 0 ] || return 1
		fi
	done
}
for left_out in '' $languages; do
	for seconds in 2 6 18; do
		! seen "$left_out" $seconds || continue 2
	done
	fail "--no-$left_out: no function of $language: $(cut -c 1-300 "$tmp/folded") $(cat "$tmp/err")"
done
echo "note: each of$languages alone"
