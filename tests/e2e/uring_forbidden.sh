#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where io_uring is forbidden, by a seccomp filter or by kernel.io_uring_disabled, chaincap writes without
# it, says so with -v, and the trace is as good.
# Beside another: it is about how the recorder writes, and what it says of that.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ -x "$build/forbid" ] || fail "no $build/forbid: make unit builds it"

# the numbers are the same on all architectures
setup=425 enter=426 register=427
eperm=1 enosys=38

# check WHAT METHOD COMMAND...: records a ping-pong pair with it.
check() {
	what=$1 method=$2
	shift 2
	rm -f "$tmp/trace"
	timeout 300 "$@" -v -o "$tmp/trace" -- "$load" pingpong --hops pipe --rounds 100 --seconds 600 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap, $what" 0 $?
	grep -q -F ", $method" "$tmp/err" || fail "$what: -v does not say how it writes
expected: $method
got:      $(grep 'ring buffers of' "$tmp/err")"
	read_info "$tmp/trace"
	expect "$what: events in the log and lost" "$counted" $((events + lost))
	walk_to "$tmp/folded" "$tmp/trace"
	grep -q "^ping;.*;pong;" "$tmp/folded" || fail "$what: the pair is not in the trace"
}

check "setup answered with EPERM" "plain writes (io_uring: Operation not permitted)" \
	"$build/forbid" $eperm $setup,$enter,$register "$cap"
check "setup answered with ENOSYS" "plain writes (io_uring: Function not implemented)" \
	"$build/forbid" $enosys $setup,$enter,$register "$cap"
check "only enter forbidden" "plain writes (io_uring: Operation not permitted)" \
	"$build/forbid" $eperm $enter "$cap"
check "only register forbidden" "io_uring" "$build/forbid" $eperm $register "$cap"
grep -q 'registered buffers' "$tmp/err" && fail "registered buffers, though that was forbidden: $(cat "$tmp/err")"

knob=/proc/sys/kernel/io_uring_disabled
if [ -w $knob ]; then
	before=$(cat $knob)
	restore() { echo "$before" >$knob; }
	# However this test ends, and even if it is killed, the machine gets its setting back.
	trap 'restore; clean_up' EXIT
	test=$$
	setsid sh -c "trap '' HUP INT TERM; while kill -0 $test 2>/dev/null; do sleep 0.2; done
		echo $before >$knob" >/dev/null 2>&1 &
	echo 2 >$knob
	check "kernel.io_uring_disabled=2" "plain writes (io_uring: Operation not permitted)" "$cap"
	restore
	expect "kernel.io_uring_disabled afterwards" "$before" "$(cat $knob)"
else
	echo "note: kernel.io_uring_disabled is not there to be set (before Linux 6.6)"
fi
