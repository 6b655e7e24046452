#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program in a mount namespace of its own, where its path is another file than here, with code of the same shape
# and other rules. Its stacks are those of what it runs; and --verify, which opens files by name as debuggers do,
# does not judge by the namesake.
# Beside another: it is about stacks of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
source=$(cd "$(dirname "$0")/../stacks" && pwd)/pair.c
command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
# Frames of 272 and of 544 bytes: the wrong rules step over every second one.
for size in 240 512; do
	${CC:-cc} -O1 -std=gnu17 -fno-stack-protector -DSIZE=$size -o "$tmp/pair$size" "$source" 2>"$tmp/err" ||
		fail "pair.c: $(head -5 "$tmp/err")"
done
cp "$tmp/pair512" "$tmp/pair"
cat >"$tmp/namespaced" <<END
mount --bind "$tmp/pair240" "$tmp/pair" && exec "$tmp/pair" 2
END
timeout 300 "$cap" --verify -v -o "$tmp/trace" -- unshare -m sh "$tmp/namespaced" 2>"$tmp/err"
expect_exit "chaincap --verify -- pair" 0 $?
line=$(sed -n 's/^chaincap: verified: //p' "$tmp/err")
echo "note: $line"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
expect_at_least "user stacks compared" 500 "$3" "$tmp/err"
expect "user stacks that differ" 0 "$4"
walk_to "$tmp/folded" -U --depth 0 -c '^pair$' "$tmp/trace"
grep -qE ';main;ping(;pong;ping){8};' "$tmp/folded" || fail "no stack of 17 functions in turn: $(cat "$tmp/folded")"
