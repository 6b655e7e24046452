#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Java methods in the stacks of threads that say themselves where they are, in a JVM that was given nothing: none is wrong,
# whether the trace is written at once or by the flight recorder; and none is missing, also of those that are compiled
# into their callers.
# Beside another: it judges the stacks of its own process.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in java javac python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
java -version 2>&1 | grep -qE 'version "(11|17|21)\.' || skip "no JDK 11, 17 or 21"
# shellcheck source=tests/stacks/recorded.sh
. "$(dirname "$0")/../stacks/recorded.sh"
javac -d "$tmp" "$stacks/Paths.java" || fail "javac"
says_ready=$tmp/ready
# run_java [OPTION] PATH SEED
run_java() {
	exec >"$says_ready"
	case $1 in
	-*) exec java "$1" -cp "$tmp" Paths "$3" ;;
	*) exec java -cp "$tmp" Paths "$2" ;;
	esac
}
record_paths run_java Paths.java
for note in "have no names" "frames are missing"; do
	! grep -q "java/$pid.*$note" "$tmp/err" || fail "$(cat "$tmp/err")"
done
record_paths run_java Paths.java -XX:TieredStopAtLevel=1
record_paths run_java Paths.java -Xint
