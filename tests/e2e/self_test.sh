#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap --self-test says what works here, and writes no file. Each part that is left out, or for which a right is
# missing, is said so with the cure; without the right to record it fails.
# Beside another: it is about two processes of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
cd "$tmp" || exit 1

# self_test WHAT STATUS COMMAND...: in $tmp/out and $tmp/err
self_test() {
	what=$1 status=$2
	shift 2
	timeout 300 "$@" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$what" "$status" $?
	expect "$what: lines that are neither ok nor no" "" "$(sed 1d "$tmp/out" | grep -vE '^(ok|no ) ')"
}

# expect_lines WHAT STATE PART...: that is said of each of these parts
expect_lines() {
	what=$1 state=$2
	shift 2
	for part; do
		grep -q "^$state  *$part  *[^ ]" "$tmp/out" || fail "$what: not said: $state $part
$(cat "$tmp/out" "$tmp/err")"
	done
}

self_test "as root" 0 "$cap" --self-test
expect_lines "as root" ok BTF events "kernel stacks" "user stacks" "their names" objects samples
expect "files that were written" "err out" "$(ls | tr '\n' ' ' | sed 's/ $//')"
expect "what is said as an error" "" "$(cat "$tmp/err")"
case $(uname -r) in
[1-5].* | 6.[0-2].*) expect_lines "before Linux 6.3" no requests ;;
*) expect_lines "since Linux 6.3" ok requests ;;
esac
expect_at_most "lines: a screen" 24 "$(wc -l <"$tmp/out")"

self_test "kernel stacks only" 0 "$cap" --self-test -K --no-objects --no-requests -F 0
grep -E 'user stacks|objects|requests|samples' "$tmp/out" && fail "parts that were left out are said to be there"

# With a copy that others may run, wherever the programs are.
chmod 755 "$tmp"
cp "$cap" "$tmp/chaincap"
caps=-all,+bpf,+perfmon
if setpriv --bounding-set $caps true 2>/dev/null; then
	self_test "with two capabilities" 0 setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set $caps \
		--inh-caps $caps --ambient-caps $caps "$tmp/chaincap" --self-test
	expect_lines "with two capabilities" ok events
	grep -q '^no .*without CAP_SYS_PTRACE: ' "$tmp/out" || fail "it is not said that CAP_SYS_PTRACE is missing:
$(cat "$tmp/out")"
	self_test "without rights" 1 setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		"$tmp/chaincap" --self-test
	expect_lines "without rights" no events
	grep -q '^no  *rights  *missing: CAP_BPF, CAP_PERFMON: ' "$tmp/out" ||
		fail "it is not said which rights are missing: $(cat "$tmp/out")"
fi
