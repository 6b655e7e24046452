#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that only look like JVMs, and who ask for their perf maps with --java-maps: one does not listen, one hears and
# says nothing, one answers without end, one would stop who asks. The recording ends in time, and leaves no process and no file.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
command -v setpriv >/dev/null || skip "needs setpriv"
chmod 755 "$tmp"
cc -O2 -pthread -rdynamic -o "$tmp/libjvm.so" "$(dirname "$0")/../attacks/java_bait.c" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
baits=''
for what in silent hangs floods stops; do
	setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/libjvm.so" $what &
	started="$started $!"
	baits="$baits $!"
done
sleep 0.5
begin_recording "$tmp/trace" --java-maps
sleep 1.5
below "$recorder" | awk '$5 ~ /^chaincap-/ { print $1 }' >"$tmp/helpers"
before=$(date +%s)
end_recording
expect_at_most "seconds to end" 20 $(($(date +%s) - before)) "$tmp/err"
grep -q "libjvm.so/[0-9].*: Java functions have no names: the JVM did not write its perf map in time" "$tmp/err" || fail "none was asked: $(cat "$tmp/err")"
no_helper_is_left() {
	while read -r pid; do
		! is_running "$pid" || return 1
	done <"$tmp/helpers"
}
wait_for "no process is left" 10 no_helper_is_left
for pid in $baits; do
	[ ! -e "/tmp/.attach_pid$pid" ] || fail "a file is left: /tmp/.attach_pid$pid"
done

# A user's many, of which none answers, come before another one's that does.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/libjvm.so" hangs &
	started="$started $!"
done
sleep 0.5
setpriv --reuid=65433 --regid=65433 --clear-groups "$tmp/libjvm.so" answers &
answers=$!
started="$started $answers"
begin_recording "$tmp/trace" --java-maps
sleep 1.5
end_recording
"$walk" -q --state all -p "$answers" -f folded "$tmp/trace" >"$tmp/folded"
grep -q a_java_function "$tmp/folded" || fail "the JVM that answers has no names: $(cat "$tmp/err")"
