#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Something that is not a trace: one line that says so, exit status 1, nothing on standard output.
. "$(dirname "$0")/lib.sh"
echo "this is a text file, and a long enough one to hold any header that there may be" >"$tmp/text"
: >"$tmp/empty"
head -c 100000 /dev/urandom >"$tmp/random"
head -c 100000 /dev/zero >"$tmp/zeros"
mkdir "$tmp/folder"
for file in text empty random zeros folder missing; do
	for options in --format=folded '--format=tree -t 1' --format=info --mode=classic; do
		# shellcheck disable=SC2086 # words
		timeout 300 "$walk" $options "$tmp/$file" >"$tmp/out" 2>"$tmp/err"
		expect_exit "chainwalk $options of: $file" 1 $?
		expect_one_line "chainwalk $options of: $file"
		grep -q "$tmp/$file" "$tmp/err" || fail "the line does not name the file:
$(cat "$tmp/err")"
	done
done
# says FILE TEXT: what it is, and which program takes it
says() {
	timeout 300 "$walk" "$1" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk $1" 1 $?
	expect_one_line "chainwalk $1"
	grep -qF "$2" "$tmp/err" || fail "what it is, '$2', is not said:
$(cat "$tmp/err")"
}
echo 'main;work;[running] 12' >"$tmp/folded"
"$flame" "$tmp/folded" >"$tmp/graph.svg"
says "$tmp/graph.svg" 'it is a picture'
says "$tmp/folded" 'draw them with flamegraph'
says "$walk" 'it is a program'
timeout 300 "$walk" - <"$tmp/text" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk - of a text" 1 $?
expect_one_line "chainwalk - of a text"
