#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads that hold each other's lock until they are killed have not waited for whoever kills them, and the
# summary names them as it does those of a deadlock that outlives the recording. So it is if their process ends.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf

# deadlocked UNTIL COMMAND...: records it, and looks at its two threads.
deadlocked() {
	until=$1
	shift
	# The stack of a sleep as young as its program may be cut: then it is not known that it is at a lock. And the
	# recording may end before a thread's last switch, which says that it was killed.
	for _ in 1 2 3 4 5; do
		timeout 300 "$cap" -q -F 0 -o "$tmp/trace" -- "$@" >"$tmp/told" 2>"$tmp/err"
		walk_to "$tmp/folded" -c '^(castor|pollux)$' --min-wait 500ms --state blocked "$tmp/trace"
		[ "$(grep -c '_wants_.*_lock;.*\[not woken\]' "$tmp/folded")" -lt 2 ] || break
	done
	for name in castor pollux; do
		grep -q "^$name;.*futex_wait.*;\[not woken\] " "$tmp/folded" ||
			fail "$name: no wait in futex_wait that ends in [not woken]
$(cat "$tmp/folded")"
		! grep "^$name;.*futex_wait" "$tmp/folded" | grep -v '\[not woken\] ' ||
			fail "$name: it got what it waited for"
	done
	grep -q '^at a lock or in state D at the end, 2 threads.*(castor).*(pollux)\|(pollux).*(castor)' "$tmp/err" ||
		fail "the summary does not name both
$(cat "$tmp/err")"
	"$walk" -q -f tree -c '^castor$' "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
	expect_exit "chainwalk -f tree" 0 $?
	grep -q "not woken: slept until $until" "$tmp/tree" || fail "castor: not until $until
$(cat "$tmp/tree")"
	"$walk" -q -f causes --json -c '^castor$' "$tmp/trace" >"$tmp/causes" 2>"$tmp/err"
	expect_exit "chainwalk -f causes --json" 0 $?
	grep -q "\"castor/[0-9]* slept in .*, until ${until%%, by *}\"" "$tmp/causes" ||
		fail "causes: castor: not until $until
$(cat "$tmp/causes")"
	"$walk" -q -f wakers -c '^castor$' "$tmp/trace" >"$tmp/wakers" 2>"$tmp/err"
	expect_exit "chainwalk -f wakers" 0 $?
	! grep -q '^timeout' "$tmp/wakers" || fail "castor was woken by timeout
$(cat "$tmp/wakers")"
}
deadlocked 'it was killed, by timeout (' timeout -s KILL 1 "$load" deadlock --seconds 30
deadlocked 'its process ended, by chainload (' "$load" deadlock --seconds 1
