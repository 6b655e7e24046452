#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libcrypto's assembly code aligns the stack and says in its tables where it saved the stack pointer: what a program
# hashes and encrypts has its callers, in whichever of these functions it is sampled.
# Beside another: shares of samples of its own program are judged.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(uname -m)" = x86_64 ] || skip "libcrypto saves the stack pointer so on x86-64"
command -v openssl >/dev/null || skip "no openssl"

for work in "sha512" "sha256" "sha1" "-evp aes-128-cbc-hmac-sha1" "-evp chacha20-poly1305" "rsa2048"; do
	# shellcheck disable=SC2086 # two words
	timeout 100 "$cap" -q -F 997 -o "$tmp/trace" -- openssl speed -seconds 2 -bytes 16384 $work >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- openssl speed $work" 0 $?
	# The first second is for the recorder to read the library's tables.
	walk_to "$tmp/folded" --from 1 --state running -c '^openssl$' "$tmp/trace"
	all=$(weight_of 'libcrypto|\[on-CPU\]' "$tmp/folded")
	rooted=$(weight_of '\[on-CPU\].*;__libc_start_call_main;|\[on-CPU\];__libc_start_main|\[on-CPU\];_start' "$tmp/folded")
	echo "note: $work: $((100 * rooted / all)) % of the time has its callers up to main()"
	expect_at_least "$work: time with all callers, ns" $((all * 90 / 100)) "$rooted" "$tmp/folded"
done
