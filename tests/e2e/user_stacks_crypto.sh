#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libcrypto's assembly code aligns the stack and says in its tables where it saved the stack pointer: what a program
# hashes and encrypts has its callers, in whichever of these functions it is sampled.
# Beside another: shares of samples of its own program are judged.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(uname -m)" = x86_64 ] || skip "libcrypto saves the stack pointer so on x86-64"
command -v openssl >/dev/null || skip "no openssl"

# recorded WORK: records it; the time in $all, and that with all callers in $rooted, ns.
recorded() {
	# shellcheck disable=SC2086 # two words
	timeout 100 "$cap" -q -F 997 -o "$tmp/trace" -- openssl speed -seconds 2 -bytes 16384 $1 >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- openssl speed $1" 0 $?
	# The first second is for the recorder to read the library's tables.
	walk_to "$tmp/folded" --from 1 --state running -c '^openssl$' "$tmp/trace"
	all=$(weight_of '\[on-CPU\]' "$tmp/folded")
	rooted=$(weight_of '\[on-CPU\].*;__libc_start_(call_main|main);|\[on-CPU\];_start' "$tmp/folded")
}

for work in "sha512" "sha256" "sha1" "-evp aes-128-cbc-hmac-sha1" "-evp chacha20-poly1305" "rsa2048"; do
	# On a busy machine that takes longer, and openssl has the CPU for some milliseconds only.
	for try in 1 2 3; do
		recorded "$work"
		[ "$rooted" -lt $((all * 90 / 100)) ] && [ $try -lt 3 ] || break
	done
	echo "note: $work: $((100 * rooted / all)) % of the time has its callers up to main()"
	expect_at_least "$work: time with all callers, ns" $((all * 90 / 100)) "$rooted" "$tmp/folded"
done
