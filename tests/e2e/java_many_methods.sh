#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A JVM with more methods than there used to be room for: each of them has its name when it is called again from elsewhere.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in java javac; do
	command -v $tool >/dev/null || skip "no $tool"
done
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
java -version 2>&1 | grep -qE 'version "(11|17|21)\.' || skip "no JDK 11, 17 or 21"
only_all "it calls ten thousand methods"
awk -v n=10000 'BEGIN {
	print "public class Many {"
	print "\tstatic void nap() { java.util.concurrent.locks.LockSupport.parkNanos(50000); }"
	for (i = 0; i < n; i++) {
		if (!(i % 100)) printf "\tstatic void group%s(int i) {\n\t\tswitch (i) {\n", int(i / 100)
		printf "\t\tcase %s: m%s(); break;\n", i, i
		if (i % 100 == 99) print "\t\t}\n\t}"
	}
	for (i = 0; i < n; i++) printf "\tstatic void m%s() {\n\t\tnap();\n\t}\n", i
	print "\tstatic void all(int i) {\n\t\tswitch (i / 100) {"
	for (i = 0; i < n / 100; i++) printf "\t\tcase %s: group%s(i); break;\n", i, i
	print "\t\t}\n\t}"
	printf "\tstatic void first() { for (int i = 0; i < %s; i++) all(i); }\n", n
	printf "\tstatic void second() { for (int i = 0; i < %s; i++) all(i %% %s); }\n", 3 * n, n
	print "\tpublic static void main(String[] args) throws Exception {"
	print "\t\tSystem.out.println(\"ready\");\n\t\tSystem.in.read();\n\t\tfirst();\n\t\tsecond();\n\t}\n}"
}' >"$tmp/Many.java"
javac -d "$tmp" "$tmp/Many.java" || fail "javac"
mkfifo "$tmp/go"
java -Xint -cp "$tmp" Many <"$tmp/go" >"$tmp/ready" &
pid=$!
started="$started $pid"
exec 3>"$tmp/go"
wait_for "Many runs" 30 grep -q ready "$tmp/ready"
begin_recording "$tmp/trace"
echo >&3
wait "$pid"
end_recording
walk_to "$tmp/folded" -p "$pid" -U -d 0 --no-ends "$tmp/trace"
grep -F ';Many.second ' "$tmp/folded" >"$tmp/second"
grep -oE ';Many\.m[0-9]+ \(Many\.java:[0-9]+\);Many\.nap ' "$tmp/second" | sort -u >"$tmp/named"
# One for which there was no time is named when it comes again.
expect_at_least "methods that wait with their names and lines" 9990 "$(wc -l <"$tmp/named")"
