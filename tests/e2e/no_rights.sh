#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Without the rights to record: one line that says what is missing, exit status 1, no trace left behind.
. "$(dirname "$0")/lib.sh"
chmod 711 "$tmp"
mkdir -m 777 "$tmp/open"
cp "$cap" "$tmp/open/chaincap"
set -- "$tmp/open/chaincap" -o "$tmp/open/trace" 1
[ "$(id -u)" != 0 ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
timeout 300 "$@" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap as nobody" 1 $?
expect_one_line "chaincap as nobody"
grep -q 'needs root: sudo chaincap \.\.\., or CAP_BPF' "$tmp/err" || fail "the line does not say what is missing:
$(cat "$tmp/err")"
[ ! -e "$tmp/open/trace" ] || fail "a trace was left behind"

timeout 300 "$cap" -o "$tmp/missing/trace" 1 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap into a folder that does not exist" 1 $?
expect_one_line "chaincap into a folder that does not exist"

# What is missing is not always a right, or a newer kernel.
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ]; then
	# shellcheck disable=SC3045 # dash has it
	(ulimit -n 20 && exec timeout 300 "$cap" -o "$tmp/few" 1) >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap with 20 files" 1 $?
	expect_one_line "chaincap with 20 files"
	grep -q 'ulimit -n' "$tmp/err" || fail "the line does not say what is missing:
$(cat "$tmp/err")"
fi

# A container runtime's filter answers the system calls, whatever the capabilities.
case $(uname -m) in
x86_64) bpf=321 perf=298 ;;
aarch64) bpf=280 perf=241 ;;
*) bpf= ;;
esac
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] && "$build/may_record" >/dev/null && [ "$bpf" ]; then
	[ -x "$build/forbid" ] || fail "no $build/forbid: make unit builds it"
	for errno in 1 38; do
		timeout 300 "$build/forbid" $errno $bpf "$cap" -o "$tmp/none" 1 >"$tmp/out" 2>"$tmp/err"
		expect_exit "chaincap without bpf(2)" 1 $?
		expect_one_line "chaincap without bpf(2)"
		grep -q 'a seccomp filter forbids bpf(2): .*seccomp=unconfined' "$tmp/err" || fail "the cause is not said:
$(cat "$tmp/err")"
	done
	timeout 300 "$build/forbid" 1 $perf "$cap" -o "$tmp/trace" 0.2 >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap without perf_event_open(2)" 0 $?
	for lacking in 'running threads will not be sampled' 'processes that start and end .* will lack names'; do
		grep -q "$lacking: perf_event_open: .* (a seccomp filter forbids it: .*unconfined" "$tmp/err" ||
			fail "not said, with the cause: $lacking
$(cat "$tmp/err")"
	done
fi
