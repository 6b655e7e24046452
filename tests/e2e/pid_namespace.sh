#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where process ids mean something else than in the events chaincap does not record, and says so: it
# would take strangers for itself, and look for names in the wrong processes.
# Beside another: nothing is recorded.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] || skip "this is not the initial PID namespace"
unshare -pf --mount-proc true 2>"$tmp/err" ||
	skip "no PID namespace can be made here: $(head -n 1 "$tmp/err")"

refuses() {
	what=$1
	shift
	echo precious >"$tmp/trace"
	timeout 300 "$@" "$cap" -o "$tmp/trace" 0.2 >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap $what" 1 $?
	expect_one_line "chaincap $what"
	grep -q 'PID namespace' "$tmp/err" || fail "chaincap $what does not say why:
$(cat "$tmp/err")"
	expect "an earlier trace, after chaincap $what" precious "$(cat "$tmp/trace")"
}

! is_sanitized || skip "AddressSanitizer reads /proc, too"
refuses "in a PID namespace of its own" unshare -pf --mount-proc
grep -q -- '--pid=host' "$tmp/err" || fail "what to do is not said in
$(cat "$tmp/err")"
refuses "in a PID namespace of its own, with the machine's /proc" unshare -pf
# Its own processes and the machine's /proc, but what it sees as /proc is a child namespace's.
unshare -pf --mount-proc sleep 20 &
started="$started $!"
inner=
for try in 1 2 3 4 5 6 7 8 9 10; do
	inner=$(pgrep -P $! -x sleep) && break
	sleep 0.1
done
[ "$inner" ] || fail "no sleep in the namespace"
started="$started $inner"
refuses "with a container's /proc" nsenter -t "$inner" -m -r
