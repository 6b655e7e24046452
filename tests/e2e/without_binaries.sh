#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The trace holds its names: walked after the recorded program is deleted, with nothing of this machine's
# /proc or file system at hand where it can be hidden, it gives the same bytes.
# Beside another: outputs of one trace are compared.
. "$(dirname "$0")/lib.sh"
needs_bpf
! is_sanitized || skip "AddressSanitizer reads /proc, too"
cp "$load" "$tmp/chainload"
load=$tmp/chainload
record "$tmp/trace" relay --rounds 3
walk_to "$tmp/first" "$tmp/trace"
grep -q ';bravo_wakes_alpha;' "$tmp/first" || fail "no names in
$(grep '^alpha;' "$tmp/first" | head -5)"
rm "$tmp/chainload"
walk_to "$tmp/second" "$tmp/trace"
cmp "$tmp/first" "$tmp/second" || fail "walked without the binary, the output differs"

# another machine: only chainwalk, what it is linked with, and the trace
mkdir "$tmp/root"
cp --parents "$walk" "$tmp/root"
ldd "$walk" | grep -o '/[^ ]*' | while read -r library; do
	cp -L --parents "$library" "$tmp/root"
done
cp "$tmp/trace" "$tmp/root/trace"
# (a leak checker would need /proc)
ASAN_OPTIONS=detect_leaks=0 chroot "$tmp/root" "$walk" --unit=ns /trace >"$tmp/all" 2>"$tmp/err"
expect_exit "chainwalk where nothing else is" 0 $?
grep -v '^\[note\] ' "$tmp/all" >"$tmp/third" # as walk_to
cmp "$tmp/first" "$tmp/third" || fail "walked on a machine without anything else, the output differs"
