#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --against: the same program twice is no regression, however loaded the machine is; where a lock is held for longer it
# is named, with who holds it, in the elapsed time, in the requests and among the causes, and the exit status is 1. On a
# terminal it fits.
# Beside another: others' load is what must make no difference.
. "$(dirname "$0")/lib.sh"
needs_bpf
build_slow till

# till NAME MICROSECONDS: records it
till() {
	timeout 300 "$cap" -q -o "$tmp/$1" -- "$tmp/till" "$tmp/shop" "$2" 2>"$tmp/err"
	expect_exit "chaincap -- till" 0 $?
}
# against BEFORE AFTER: the rows in $tmp/out, the exit status in $status
against() {
	timeout 300 "$walk" --fail-above 20% --against "$tmp/$1" "$tmp/$2" >"$tmp/out" 2>"$tmp/err"
	status=$?
}
has() { grep -Eq -e "$1" "$tmp/out" || fail "no line like '$1':
$(cat "$tmp/out" "$tmp/err")"; }

# Recorded again where the kernel hides switches, which makes times unknown.
for try in 1 2 3; do
	for name in before same slower; do
		case $name in slower) till $name 12000 ;; *) till $name 1000 ;; esac
	done
	against before same
	[ $status -ne 0 ] && [ "$(holes "$tmp/before")$(holes "$tmp/same")" != 00 ] && [ $try -lt 3 ] || break
	echo "note: try $try: exit $status beside untraced switches"
done
expect_exit "the same twice" 0 $status
! grep ' ! ' "$tmp/out" || fail "a figure of the same program grew: $(cat "$tmp/out")"
against same before
[ $status = 0 ] || fail "the same twice, the other way round: exit status $status: $(cat "$tmp/out")"

against before slower
expect_exit "a lock is held for longer" 1 $status
has '\+[0-9]+ % +! till, elapsed'
has '\+[0-9]+ % +! p99 of unix .*till'
has '(\+[0-9]+ %|new) +! janitor held '
# Its links: who waits where for what, and who has that.
has '\+[0-9.]+ ms +worker pay +waits for a lock'
has '\+[0-9.]+ ms +janitor count_till +holds it'
against slower before
expect_exit "it got better" 0 $status
has '-[0-9]+ % +p99 of unix .*till'

# On terminals of any width.
command -v script >/dev/null || skip "no fault so far; script (util-linux) is not installed"
for columns in 60 80 120 200; do
	script -qec "env COLUMNS=$columns LINES=24 TERM=dumb LC_ALL=C.UTF-8 $walk --against $tmp/before $tmp/slower" /dev/null </dev/null |
		tr -d '\r' >"$tmp/screen"
	expect_at_most "lines on $columns columns" 22 "$(wc -l <"$tmp/screen")" "$tmp/screen"
	expect_at_most "width on $columns columns" "$columns" "$(awk '{ if (length > max) max = length } END { print max }' "$tmp/screen")" "$tmp/screen"
done

# What goes with it.
"$walk" --fail-above 20% "$tmp/same" 2>"$tmp/err" >/dev/null && fail "--fail-above alone is taken"
"$walk" --against "$tmp/before" "$tmp/same" "$tmp/slower" 2>"$tmp/err" >/dev/null && fail "three recordings are taken"
"$walk" --against "$tmp/none" "$tmp/same" 2>"$tmp/err" >/dev/null && fail "a recording that is not there is taken"
"$walk" --fail-above 20% --against "$tmp/before" --all -c '^nobody$' "$tmp/same" 2>"$tmp/err" >/dev/null && fail "nothing to judge passes"
exit 0
