#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiled code of a JVM that is given up while threads are in it, again and again: their stacks still have all methods that
# were compiled into one another, each in the line of its call.
# Beside another: it judges the stacks of its own process.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in java javac; do
	command -v $tool >/dev/null || skip "no $tool"
done
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
java -version 2>&1 | grep -qE 'version "(11|17)\.' || skip "no JDK 11 or 17"
source=$(cd "$(dirname "$0")/../stacks" && pwd)/GivenUp.java
javac -d "$tmp" "$source" || fail "javac"
# line_of WHAT: the lines that say so
line_of() { grep -n "// called by $1\$" "$source" | cut -d: -f1 | paste -sd '|'; }
java -XX:+PrintCompilation -XX:CompileCommand=dontinline,GivenUp.nap -cp "$tmp" GivenUp >"$tmp/compiled" &
pid=$!
started="$started $pid"
# given_up TIMES: whether that was so often
given_up() { [ "$(grep -c 'GivenUp::outer .*made not entrant' "$tmp/compiled")" -ge "$1" ]; }
wait_for "code is given up" 20 given_up 2
begin_recording "$tmp/trace"
wait_for "the recorder knows the JVM" 10 grep -qE 'interpreters: .*\b[1-9][0-9]* of Java\b' "$tmp/err.cap"
wait_for "code is given up while it is recorded" 20 given_up $(($(grep -c 'GivenUp::outer .*made not entrant' "$tmp/compiled") + 5))
end_recording
walk_to "$tmp/folded" -p "$pid" --from 1 -U -d 0 --no-ends "$tmp/trace"
# Where a method was not named in time, "[interpreted code]" stands in its place.
grep '^given up;.*;GivenUp\.loop .*;GivenUp\.nap ' "$tmp/folded" | grep -vF '[interpreted code]' >"$tmp/naps"
RIGHT=";GivenUp\\.outer \\(GivenUp\\.java:($(line_of outer))\\);GivenUp\\.middle \\(GivenUp\\.java:($(line_of middle))\\);(java\\.lang\\.invoke\\.[^;]*;)*GivenUp\\.(first|second) \\(GivenUp\\.java:($(line_of inner))\\);GivenUp\\.nap \\("
grep -vE ";GivenUp\\.loop [^;]*$RIGHT" "$tmp/naps" >"$tmp/wrong"
expect_at_least "ms of naps with all methods and lines" 2000 "$(weight_of "$RIGHT" "$tmp/naps" | awk '{ printf "%.0f\n", $1 / 1e6 }')" "$tmp/folded"
expect "stacks of naps that lack a method or its line" "" "$(cut -c 1-700 "$tmp/wrong")"
