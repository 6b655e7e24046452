#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chainwalk | flamegraph: well-formed XML in which the relay's four threads stand above one another, in
# order, and the timer's interrupt above them.
# Beside another: it is about how its own threads' waits are drawn.
. "$(dirname "$0")/lib.sh"
needs_bpf
record "$tmp/trace" relay --rounds 5
"$walk" --depth 6 -t "$(tid alpha)" "$tmp/trace" 2>"$tmp/err" | "$flame" >"$tmp/chain.svg" 2>"$tmp/err.flame"
expect_exit "chainwalk | flamegraph ($(cat "$tmp/err.flame"))" 0 $?
command -v xmllint >/dev/null || fail "xmllint is missing (package libxml2-utils)"
xmllint --noout "$tmp/chain.svg" 2>"$tmp/err" || fail "not well-formed:
$(head -5 "$tmp/err")"

# "NAME X Y WIDTH" of each frame: its title comes before its rectangle
tr '\n' ' ' <"$tmp/chain.svg" | sed 's/<title>/\n<title>/g' | awk '
	function attribute(name,  at) {
		if (!match($0, "<rect[^>]* " name "=\"[-0-9.]*")) return ""
		at = substr($0, RSTART, RLENGTH)
		sub(/.*"/, "", at)
		return at
	}
	/^<title>/ && /<rect/ {
		name = $0
		sub(/^<title>/, "", name)
		sub(/[ (<].*/, "", name)
		print name, attribute("x"), attribute("y"), attribute("width")
	}' >"$tmp/frames"
below=''
for name in alpha bravo charlie delta '[timer]'; do
	# the widest frame of that name
	frame=$(awk -v name="$name" '$1 == name && $4 > most { most = $4; line = $0 } END { print line }' \
		"$tmp/frames")
	[ -n "$frame" ] || fail "no frame $name in the picture; frames:
$(head -50 "$tmp/frames")"
	[ -z "$below" ] || echo "$below $frame" | awk '
		# higher up is a smaller y; within the one below, to a pixel
		{ exit !($7 < $3 && $6 >= $2 - 1 && $6 + $8 <= $2 + $4 + 1) }' ||
		fail "not above one another (name x y width):
$below
$frame"
	below=$frame
done
