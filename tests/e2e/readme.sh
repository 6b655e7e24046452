#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen in README.md is what chainwalk prints of the recording that it names, and what it links to is there.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
# Words, as lines may be broken elsewhere.
sed -n '/^    \$ chainwalk trace.bin$/,/^$/p' README.md | sed 1d | tr -s ' \n' '\n' >"$tmp/shown"
expect_at_least "words of the first screen" 80 "$(wc -l <"$tmp/shown")"
LC_ALL=C.UTF-8 script -qec "stty cols 80 rows 24; $walk tests/data/services/c.bin" /dev/null </dev/null 2>"$tmp/err" |
	tr -d '\r' | tr -s ' \n' ' ' >"$tmp/printed"
# Each part between "..." is there as it is.
tr '\n' ' ' <"$tmp/shown" | sed 's/ \.\.\. /\n/g' >"$tmp/parts"
while read -r part; do
	grep -qF "$part" "$tmp/printed" || fail "README.md shows
$part
which is not in
$(cat "$tmp/printed")"
done <"$tmp/parts"
grep -o '](docs/[^)#?]*' README.md | sed 's/^](//' | while read -r file; do
	[ -e "$file" ] || echo "$file"
done >"$tmp/missing"
expect "linked files that are not there" "" "$(cat "$tmp/missing")"
