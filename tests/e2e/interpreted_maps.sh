#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of Java's methods and of Node.js's functions are those that the runtimes' own perf maps have, which nobody needs for
# that: of programs that say themselves where they are, in the same time.
# Beside another: it judges the stacks of its own processes.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
only_all "it judges by other names what java_stacks and node_stacks judge"
stacks=$(cd "$(dirname "$0")/../stacks" && pwd)
cd "$tmp" || fail "no $tmp"
judged=0

# agree WHAT FOLDED OTHER
agree() {
	python3 "$stacks/agree.py" "$2" "$3" >"$tmp/judged" || fail "$1:
$(tail -n 5 "$tmp/judged" | cut -c 1-900)"
	echo "note: $1: $(tail -n 1 "$tmp/judged")"
	judged=$((judged + 1))
}
# folded_of TRACE FILE [OPTION]
folded_of() {
	walk_to "$tmp/$2" -p "$pid" --from 0.3 -U -d 0 --no-ends ${3+"$3"} "$1"
}
end_program() {
	kill "$pid"
	wait "$pid"
	rm -f "/tmp/perf-$pid.map"
}

if command -v node >/dev/null; then
	node --perf-basic-prof --interpreted-frames-native-stack "$stacks/paths.js" 7 &
	pid=$!
	started="$started $pid"
	sleep 2
	"$cap" -q -o "$tmp/node.bin" 4 2>"$tmp/err"
	expect_exit chaincap 0 $?
	folded_of "$tmp/node.bin" ours
	folded_of "$tmp/node.bin" map --native
	end_program
	agree "V8's perf map" "$tmp/ours" "$tmp/map"
fi
if command -v javac >/dev/null && java -version 2>&1 | grep -qE 'version "17\.'; then
	javac -d "$tmp" "$stacks/Paths.java" || fail "javac"
	java -XX:+PreserveFramePointer -cp "$tmp" Paths 7 >"$tmp/ready" &
	pid=$!
	started="$started $pid"
	wait_for "Paths runs" 30 grep -q ready "$tmp/ready"
	sleep 3 # what is called often is compiled
	begin_recording "$tmp/java.bin"
	"$cap" -q --no-java --java-maps -o "$tmp/map.bin" 4 2>"$tmp/err.map"
	expect_exit "chaincap --java-maps" 0 $?
	end_recording
	folded_of "$tmp/java.bin" ours
	folded_of "$tmp/map.bin" map
	end_program
	agree "the JVM's perf map" "$tmp/ours" "$tmp/map"
fi
[ $judged -gt 0 ] || skip "neither node nor a JDK 17"
