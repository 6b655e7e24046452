#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usual situations, each with one cause that its script makes (tests/situations): a line of the first screen of
# "chaincap -- SITUATION; chainwalk", 24 lines of 80 columns, names it, and one of the first two rows of the table of
# causes does by thread, function and object.
# Others want the CPUs of this machine, too: rows of who had no CPU are left out, unless that is the cause.
# Of services with a client that measures (an endpoint in their .expect) all that makes their requests slow is looked for
# on the first 22 lines: who waits, for what, who has it, and why; the part of the slowest requests' time is that of the
# service's own clocks, within ten points.
#   situations.sh BUILD_DIR [-H | -a] [NAME...]
#   -H     without the causes: then none of them may be named
#   -a     on an idle machine: all rows count, also those of who had no CPU
. "$(dirname "$0")/lib.sh"
shift
needs_bpf
chmod 755 "$tmp"
services=$(cd "$(dirname "$0")/../situations" && pwd)
# shellcheck source=tests/services/screen.sh
. "$services/../services/screen.sh"
healthy='' all=''
case ${1:-} in
-H) healthy=-H; shift ;;
-a) all=yes; shift ;;
esac
[ $# -gt 0 ] || set -- build dd deadlock dns forks gil handler killed lock perf_bench producer proxied quota redis resolver sqlite

# without_lack <TEXT: without the rows that say who had no CPU; what they have in several lines is looked at as a whole.
without_lack() {
	awk '
		function end_row() {
			if (!joined || joined !~ /\/[0-9]+( and [0-9]+ others?)?,? had no CPU/) printf "%s", lines
			lines = joined = ""
		}
		/^ *[0-9]+\.[0-9] % / || /^[^ ]/ || /^$/ || /^ *SHARE / { end_row() }
		{ lines = lines $0 "\n"; text = $0; sub(/^ +/, " ", text); joined = joined text }
		/^[^ ]/ || /^$/ { joined = "" }
		END { end_row() }'
}

# Records a situation; leaves its first screen in $tmp/screen, its first rows in $tmp/rows. 77: it cannot be made here.
record_situation() {
	TMPDIR=$tmp timeout 300 "$cap" -q -o "$tmp/trace" -- sh "$services/../services/run.sh" $healthy "$services/$1" 2 \
		>"$tmp/told" 2>"$tmp/err"
	status=$?
	[ $status != 77 ] || return 77
	expect_exit "chaincap -- $1" 0 $status
	endpoint=$(sed -n 's/^endpoint //p' "$tmp/told")
	on_terminal "$walk -q $tmp/trace" | screenful >"$tmp/first"
	"$walk" -q -f causes --top 40 "$tmp/trace" | sed -n '/^ *SHARE /,$p' >"$tmp/all"
	if [ "$all$(expected "$1" lack)" ]; then cat "$tmp/all"; else without_lack <"$tmp/all"; fi | screenful >"$tmp/screen"
	rows_of <"$tmp/screen" | head -n 2 >"$tmp/rows"
}

# The cause of a service's slow requests is named.
names_joint() {
	head -n 22 "$tmp/first" >"$tmp/screen"
	block_of "$endpoint" <"$tmp/screen" >"$tmp/block"
	expect_block "$1" "$tmp/block" victim joint holder why
}

# percent_of REGEX <BLOCK: the sum of the lines like this.
percent_of() {
	grep -E -e "$1" | sed -n 's/^.* \([0-9]*\) %  .*/\1/p' | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# And it has the part that the service's own clocks say, which do not tell a wait from having no CPU. What has less
# than a quarter is not on the screen: of that it may have any part.
judge_service() {
	names_joint "$1"
	waited=$(sed -n 's/^waited_percent //p' "$tmp/told") shown=$(share_of "$1" "$tmp/block" joint)
	most=$((waited - $(percent_of '%  had no CPU: ' <"$tmp/block")))
	hidden=$((100 - $(percent_of '^  [^ ].* [0-9]+ %  ' <"$tmp/block")))
	[ $((shown - most)) -le 10 ] && [ $((most - shown)) -le $((10 + (hidden > 0 ? hidden : 0))) ] ||
		fail "$1: $shown % on the screen and $hidden % not there, $waited % by the service's clocks
$(cat "$tmp/screen" "$tmp/told")"
}

# judge NAME: whether rows and screen name the cause.
judge() {
	(
		if [ "$(expected "$1" joint)" ]; then
			judge_service "$1"
			exit
		fi
		expect_row "$1" "$tmp/rows" thread function object
		cp "$tmp/first" "$tmp/screen"
		expect_block "$1" "$tmp/first" screen
	)
}

ran=
for name; do
	[ ! "$all" ] || wait_until_idle || { echo "note: $name: not judged, as the machine has too much to do"; continue; }
	record_situation "$name" || { echo "note: without $name: $(tail -n 1 "$tmp/err")"; continue; }
	ran="$ran $name"
	if [ "$healthy" ]; then
		! (if [ "$(expected "$name" joint)" ]; then names_joint "$name"; else expect_row "$name" "$tmp/rows" thread function object; fi) >"$tmp/out" ||
			fail "$name names its cause without there being one: $(cat "$tmp/first")"
		continue
	fi
	# Once more where the trace says itself that it has a hole.
	judge "$name" >"$tmp/out" && continue
	if grep -qE 'events are missing|no waking was recorded' "$tmp/screen"; then
		echo "note: $name is recorded once more, as events of it are missing"
		record_situation "$name"
	fi
	judge "$name" || exit 1
done
[ "$ran" ] || skip "none of the situations can be made here, or the machine has too much to do"
