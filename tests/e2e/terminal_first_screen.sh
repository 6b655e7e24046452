#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen of all recordings fits terminals from 60 to 200 columns: no line is longer, but for commands with long
# paths, and at 24 lines there are at most 22. It has bars of ASCII where the locale is not UTF-8, colours on terminals
# that do not change the text, and --show N has the example of a row.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
data=$(dirname "$0")/../data
seen=0
escape=$(printf '\033')
# on_screen COLUMNS [options] TRACE: the first screen, as a terminal gets it
on_screen() {
	on_columns=$1
	shift
	script -qec "stty cols $on_columns rows 24; $walk -q $*" /dev/null </dev/null 2>"$tmp/err" | tr -d '\r'
}
without_colors() {
	sed "s/$escape\[[0-9;]*m//g" "$1"
}
TERM=xterm-256color
export TERM
unset NO_COLOR
for trace in "$data"/*.bin "$data"/services/*.bin; do
	for columns in 60 80 100 120 200; do
		on_screen "$columns" --all "$trace" >"$tmp/colors"
		without_colors "$tmp/colors" >"$tmp/out"
		case $columns in
		60 | 120)
			on_screen "$columns" --all --color=never "$trace" | cmp - "$tmp/out" ||
				fail "$trace on $columns columns: colours change the text"
			;;
		esac
		expect_at_most "$trace on $columns columns: lines" 22 "$(wc -l <"$tmp/out")" "$tmp/out"
		widest=$(grep -v ': chainwalk ' "$tmp/out" | awk '{ if (length > max) max = length } END { printf "%.0f\n", max }')
		expect_at_most "$trace on $columns columns: width" "$columns" "$widest" "$tmp/out"
		! grep -n '+0x[0-9a-f]*\]\|\(futex\|epoll\|pipe\) [0-9]' "$tmp/out" || fail "$trace: addresses on the first screen"
		! LC_ALL=C grep -n '[^ -~]' "$tmp/out" || fail "$trace: not ASCII"
		! grep -q '^  *[0-9]* *[0-9]* %  #' "$tmp/out" || grep -q "%  $escape\[38;5;[0-9]*m#" "$tmp/colors" ||
			fail "$trace: bars without colours"
		seen=$((seen + 1))
	done
done
expect_at_least "screens" 100 "$seen"
trace=$data/services/c.bin
LC_ALL=C.UTF-8 on_screen 80 "$trace" >"$tmp/out"
grep -q '^  1 .*█' "$tmp/out" || fail "no bars: $(cat "$tmp/out")"
grep -q "$escape\[1mredis-server$escape\[0m ran" "$tmp/out" || fail "names are not bold: $(cat "$tmp/out")"

# Who asked for no colours gets none, and neither does a pipe or a file, unless they are asked for.
NO_COLOR=1 on_screen 80 "$trace" >"$tmp/out"
! grep "$escape" "$tmp/out" || fail "colours in spite of NO_COLOR"
NO_COLOR=1 on_screen 80 --color=always "$trace" >"$tmp/out"
grep -q "$escape" "$tmp/out" || fail "--color=always: no colours"
NO_COLOR='' on_screen 80 "$trace" >"$tmp/out"
grep -q "$escape" "$tmp/out" || fail "an empty NO_COLOR is one"
TERM=dumb on_screen 80 "$trace" >"$tmp/out"
! grep "$escape" "$tmp/out" || fail "colours on a dumb terminal"
"$walk" -q -f causes "$trace" >"$tmp/out"
! grep "$escape" "$tmp/out" || fail "colours into a pipe"
on_screen 80 -f causes -o "$tmp/out" "$trace"
! grep "$escape" "$tmp/out" || fail "colours into a file"
"$walk" -q -f causes --color=always "$trace" >"$tmp/colors"
grep -q "$escape" "$tmp/colors" || fail "--color=always into a pipe: no colours"
without_colors "$tmp/colors" | cmp - "$tmp/out" || fail "--color=always into a pipe changes the text"
"$walk" -q --color=sometimes "$trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "--color=sometimes" 2 $?

"$walk" -q --show 1 "$trace" >"$tmp/shown"
grep -q '^ *woken by redis-server .*, which ran' "$tmp/shown" || fail "--show 1: $(head -n 20 "$tmp/shown")"
"$walk" -q --show 100000 "$trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "--show of a cause that is not there" 1 $?
expect_one_line "--show of a cause that is not there"
"$walk" -q -f tree --show 1 "$trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "--show with --format=tree" 2 $?
