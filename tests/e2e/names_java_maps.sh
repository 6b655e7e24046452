#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With --java-maps, and without names by its own structs, a JVM writes its perf map when the recording ends, as its own user and in its own /tmp: its
# compiled methods have names. The flight recorder does the same for each trace. A JVM that takes no commands is left
# alone, and that is said.
# Beside another: it judges its own programs' names.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in java javac setpriv unshare; do
	command -v $tool >/dev/null || skip "no $tool"
done
cd "$tmp" || exit 1
mkdir own
chmod 755 .
chmod 1777 own
cat >Naps.java <<-'EOF'
	public class Naps {
		static void nap() throws InterruptedException {
			Thread.sleep(2);
		}
		public static void main(String[] arguments) throws Exception {
			for (int i = 0; i < 300; i++)
				nap();
			for (System.out.println("ready");;)
				nap();
		}
	}
EOF
javac -d own Naps.java || fail "javac"
options="-XX:+PreserveFramePointer -XX:CompileThresholdScaling=0.1"
unshare -m true 2>/dev/null || skip "no mount namespace is permitted here"
# shellcheck disable=SC2086 # a list
unshare -m --propagation private sh -c 'mount --bind "$1" /tmp && shift && exec setpriv --reuid=12345 --regid=12345 --clear-groups "$@"' \
	sh "$tmp/own" java $options -cp /tmp Naps >contained.told 2>&1 &
contained=$!
# shellcheck disable=SC2086
java $options -XX:+DisableAttachMechanism -cp own Naps >deaf.told 2>&1 &
deaf=$!
started="$started $contained $deaf"
: >>contained.told
: >>deaf.told
for name in contained deaf; do
	wait_for "$name runs" 30 grep -q ready $name.told
done

# named PID TRACE: for how many microseconds a thread of it slept in the method, by name.
named() {
	"$walk" -q --depth 0 -p "$1" "$2" | grep 'void Naps\.nap()' | awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}
# record_until_named TRACE OPTION...: longer where the stacks are cut, as the rules of libjvm.so were not read in time.
record_until_named() {
	trace=$1
	shift
	for seconds in 1 3 6; do
		rm -f "$trace" "own/perf-$contained.map"
		timeout 60 "$cap" -o "$trace" --no-java --java-maps "$@" $seconds 2>err
		expect_exit "chaincap --java-maps $*" 0 $?
		[ "$(named $contained "$trace")" -lt 10000 ] || break
		cut=$("$walk" -q -f info "$trace" | sed -n 's/^user_stacks_without_rule: //p')
		echo "note: $cut stacks are cut where a rule is missing"
		[ "$cut" -gt 0 ] || break
	done
}
# Another process may have had the id.
rm -f "/tmp/perf-$contained.map"
record_until_named trace
expect_at_least "us in a compiled method" 10000 "$(named $contained trace)" err
expect "us in one with a name, in a JVM that takes no commands" 0 "$(named $deaf trace)"
expect "owner of the perf map" 12345 "$(stat -c %u "own/perf-$contained.map")"
expect "files that asked for a perf map" "" "$(find own -name '.attach*')"
[ ! -e "/tmp/perf-$contained.map" ] || fail "the perf map is not in the JVM's own /tmp"
expect "lines that the JVM printed" 1 "$(wc -l <contained.told)"
expect "lines that the JVM printed that takes no commands" 1 "$(wc -l <deaf.told)"
grep -q "^chaincap: java/$deaf.*: Java functions have no names: the JVM takes no commands" err ||
	fail "not said: $(cat err)"
! "$walk" -q -f info trace | grep "^note:.*java/$contained" || fail "something is said to be missing"

record_until_named flight --flight 1s
expect_at_least "us in a compiled method, by the flight recorder" 10000 "$(named $contained flight)" err
