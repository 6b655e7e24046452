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
