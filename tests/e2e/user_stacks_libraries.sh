#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program loads libraries that take each other's place in memory, some forty a second, and deletes each of
# them some milliseconds later. Stacks through them are what another unwinder finds; where nothing is known of
# what is mapped, or its file is gone before it could be opened, a stack is cut and not called whole. Of those
# that were opened in time, the functions have their names. Right after a library was loaded its functions have
# no callers that only the one before it had, at the same addresses with frames of other sizes.
# Beside another: it compares stacks of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
sources=$(cd "$(dirname "$0")/../stacks" && pwd)
command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
${CC:-cc} -O2 -std=gnu17 -o "$tmp/libraries" "$sources/libraries.c" 2>"$tmp/err" || fail "libraries.c: $(head -5 "$tmp/err")"
for way in 0 1 2 3; do
	${CC:-cc} -O2 -fPIC -shared -fomit-frame-pointer -DWAY=$way -o "$tmp/plugin$way.so" "$sources/plugin.c" \
		2>"$tmp/err" || fail "plugin.c: $(head -5 "$tmp/err")"
done
mkdir "$tmp/made"
timeout 300 "$cap" --verify -v -F 0 -o "$tmp/trace" -- \
	"$tmp/libraries" "$tmp/made" 120 50 15000 "$tmp"/plugin[0-3].so 2>"$tmp/err"
expect_exit "chaincap --verify -- libraries" 0 $?
line=$(sed -n 's/^chaincap: verified: //p' "$tmp/err")
echo "note: $line"
# shellcheck disable=SC2046 # numbers
set -- $(echo "$line" | tr -cs '0-9' ' ')
expect_at_least "user stacks compared" 2000 "$3" "$tmp/err"
[ "$4" -eq 0 ] || fail "$4 user stacks differ: $(grep -A 50 'a stack differs' "$tmp/err" | head -100)"
only_plain "names of files that are deleted after some milliseconds"

"$walk" -q -v -U --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err" || fail "chainwalk: $(cat "$tmp/err")"
# How many of the 1500 are opened in time depends on what else the machine does: 30 were beside six busy loops.
for way in 0 1 2 3; do
	expect_at_least "stacks with the name of a function in library $way" 10 "$(grep -c "inner_$way" "$tmp/events")"
done

# Some two in a thousand of these stacks are unwound before the recorder knows of the library: 3000 of them make it
# likely that one is. The fewer files the recorder can open in time, the more runs it takes.
: >"$tmp/events"
for _ in 1 2 3 4 5 6; do
	timeout 300 "$cap" -q -F 0 -o "$tmp/fast" -- "$tmp/libraries" "$tmp/made" 400 8 500 "$tmp"/plugin[0-3].so 2>"$tmp/err"
	expect_exit "chaincap -- libraries" 0 $?
	"$walk" -q -v -U --format=events "$tmp/fast" >>"$tmp/events" 2>"$tmp/err" || fail "chainwalk: $(cat "$tmp/err")"
	[ "$(grep -c '^	.* naps[+]' "$tmp/events")" -lt 3000 ] || break
done
awk '
	BEGIN { split("^inner_[0-3][+] ^plugin[+] ^main[+]", caller, " ") }
	$2 ~ /^naps[+]/ { next_one = 1; n++; next }
	next_one && /^\t/ && NF > 2 && $2 !~ /^\[/ {
		if ($2 !~ caller[next_one])
			print
		next_one = next_one < 3 ? next_one + 1 : 0
		next
	}
	{ next_one = 0 }
	END { print n > "/dev/stderr" }' "$tmp/events" >"$tmp/made_up" 2>"$tmp/n"
expect_at_least "stacks of naps()" 3000 "$(cat "$tmp/n")"
expect "frames that are none" "" "$(sort "$tmp/made_up" | uniq -c | sort -rn | head)"
