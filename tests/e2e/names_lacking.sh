#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What stacks lack of a JVM without frame pointers, and of Node.js without its options, where neither is read by its own structs, is said with the process
# and what helps: when the recording ends, by info, in the summary and in the picture. Of those that have what it
# takes nothing is said, in whatever way it was given.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in java javac node; do
	command -v $tool >/dev/null || skip "no $tool"
done
cd "$tmp" || exit 1 # node writes logs
cat >"$tmp/Naps.java" <<-'EOF'
	public class Naps {
		public static void main(String[] arguments) throws Exception {
			for (System.out.println("ready");;)
				Thread.sleep(5);
		}
	}
EOF
cat >"$tmp/naps.js" <<-'EOF'
	const cell = new Int32Array(new SharedArrayBuffer(4));
	for (console.log("ready");;)
		Atomics.wait(cell, 0, 0, 5);
EOF
javac -d "$tmp" "$tmp/Naps.java" || fail "javac"
echo "-XX:+PreserveFramePointer" >"$tmp/argfile"

# start NAME COMMAND...: its process id is in $tmp/NAME.pid
start() {
	name=$1
	shift
	"$@" >"$tmp/$name.told" 2>&1 &
	echo $! >"$tmp/$name.pid"
	started="$started $!"
}
start bare java -Xshare:auto -cp "$tmp" Naps
start framed java "@$tmp/argfile" -cp "$tmp" Naps
start interpreted java -Xint -cp "$tmp" Naps
start node node "$tmp/naps.js"
start half node --perf_basic_prof "$tmp/naps.js"
NODE_OPTIONS="--perf-basic-prof --interpreted-frames-native-stack"
export NODE_OPTIONS
start whole node "$tmp/naps.js"
unset NODE_OPTIONS
for name in bare framed interpreted node half whole; do
	wait_for "$name runs" 30 grep -q ready "$tmp/$name.told"
done
# said NAME: what is said of this program's process, without what helps.
said() {
	sed -n "s/^note: .*\<[a-z]*\/$(cat "$tmp/$1.pid")\>[^:]*: \([^:]*\).*/\1/p" "$tmp/info" | sort | tr '\n' '|'
}
# is_said: whether all is said of each that lacks something.
is_said() {
	for name in bare framed interpreted node half; do
		[ "$(said $name)" ] || return 1
	done
	# Of this one two things.
	[ "$(said bare | tr -dc '|')" = '||' ]
}
# Longer where stacks are cut, as the rules of the programs' code were not read in time.
for seconds in 1 3 6; do
	timeout 300 "$cap" --no-node --no-java -o "$tmp/trace" $seconds 2>"$tmp/err"
	expect_exit chaincap 0 $?
	"$walk" -q -f info "$tmp/trace" >"$tmp/info"
	! is_said || break
	cut=$(sed -n 's/^user_stacks_without_rule: //p' "$tmp/info")
	echo "note: $cut stacks are cut where a rule is missing"
	[ "$cut" -gt 0 ] || break
done
for name in half whole; do
	rm -f "/tmp/perf-$(cat "$tmp/$name.pid").map"
done
expect "of a JVM without options" "Java functions have no names|compiled Java frames are missing|" "$(said bare)"
expect "of a JVM with frame pointers, by a file of options" "Java functions have no names|" "$(said framed)"
expect "of a JVM that compiles nothing" "Java functions have no names|" "$(said interpreted)"
expect "of node without options" "JavaScript functions have no names|" "$(said node)"
expect "of node with one option" "JavaScript functions that are not compiled have no names|" "$(said half)"
expect "of node with both" "" "$(said whole)"

# Programs of others may run here as well: what is said is of at least ours.
of_frames="java/[0-9]+.*: compiled Java frames are missing: -XX:\+PreserveFramePointer"
grep -qE "^chaincap: $of_frames" "$tmp/err" || fail "not said when the recording ends: $(cat "$tmp/err")"
"$walk" "$tmp/trace" >"$tmp/folded" 2>"$tmp/summary"
grep -qE "^$of_frames" "$tmp/summary" || fail "not said in the summary: $(cat "$tmp/summary")"
"$flame" "$tmp/folded" >"$tmp/picture"
grep -qE "<text id=\"fg-remark.*>$of_frames</text>" "$tmp/picture" || fail "not in the picture: $(grep fg-remark "$tmp/picture")"
"$walk" -q -f html -o "$tmp/report" "$tmp/trace"
grep -qE "^<p>$of_frames" "$tmp/report" || fail "not in the report"
