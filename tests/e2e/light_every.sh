#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light with --every: each trace, with pauses between them and without, has the stacks of its own long sleeps, and of who
# sleeps all the while.
# Beside another: each of its threads sleeps for the same all the time.
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
command -v perl >/dev/null || skip "no perl"
perl -e '$0 = "naps"; select undef, undef, undef, 0.02 while 1' &
naps=$!
started="$started $naps"
sleep 1000 &
sleeps=$!
started="$started $sleeps"

# expect_stacks TID TRACE: of nearly all the time that it slept, both
expect_stacks() {
	"$walk" -q --not-woken -t "$1" --unit=ns --state blocked "$2" >"$tmp/folded" 2>"$tmp/err"
	all=$(weight_of '' "$tmp/folded")
	[ "$all" -gt 400000000 ] || fail "$1 sleeps all the time, and not for $all ns: $(cat "$tmp/folded" "$tmp/err")"
	expect_at_least "ns of the sleep of $1 with both stacks" $((all * 8 / 10)) "$(weight_of '^[^;]*;[^;]*;.*;-;.*(nanosleep|select)' "$tmp/folded")" "$tmp/folded"
}
for way in "--every=3s --for=1s" "--every=2s"; do
	mkdir "$tmp/traces"
	# shellcheck disable=SC2086 # options
	timeout 120 "$cap" --light 1ms $way --max-dumps 3 -o "$tmp/traces" 2>"$tmp/err"
	expect_exit "chaincap --light $way" 0 $?
	[ "$(find "$tmp/traces" -name '*.bin' | wc -l)" = 3 ] || fail "not three traces: $(ls "$tmp/traces") $(cat "$tmp/err")"
	for trace in $(find "$tmp/traces" -name '*.bin' | sort | tail -n 2); do
		expect_stacks "$naps" "$trace"
		expect_stacks "$sleeps" "$trace"
	done
	rm -r "$tmp/traces"
done
