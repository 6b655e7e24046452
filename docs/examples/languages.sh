#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same slow request to a service in Python, Node.js, Java and Go: the pictures of docs/languages.md.
. "$(dirname "$0")/lib.sh"
tests=$here/../../tests
services=''
end_service() {
	[ -z "$services" ] || { kill "$services" && wait "$services"; } 2>/dev/null
	services=''
}
trap 'end_service; clean_up' EXIT
chmod 755 "$tmp"

# draw NAME TITLE REGEX [OPTION...]: the service of tests/languages/NAME under load, recorded with these options; the
# time of its slow requests in NAME.svg, most of which has a function like REGEX in its chain.
draw() {
	language=$1 heading=$2 regex=$3
	shift 3
	title "$heading"
	TMPDIR=$tmp sh "$tests/services/run.sh" "$tests/languages/$language" 60 >"$tmp/told" 2>&1 &
	services=$!
	for _ in $(seq 300); do
		! grep -q '^loading$' "$tmp/told" || break
		kill -0 $services 2>/dev/null || break
		sleep 0.1
	done
	grep -q '^loading$' "$tmp/told" || { cat "$tmp/told"; return 1; }
	sleep 6 # what is called often is compiled by then
	show chaincap -o "$language.bin" "$@" 4
	end_service
	endpoint=$(sed -n 's/^endpoint //p' "$tmp/told")
	# What is said of other programs of the machine is left out.
	chainwalk -q -U --fold-repeats --depth 4 --request "^$endpoint\$" --request-min 20ms "$language.bin" |
		sed "/^\[note\]/d; s/$endpoint\]/tcp]/; s/\[for tcp :[0-9]*\]/[for tcp]/; s|[^ ;]*/tests/languages/||g" \
			>"$language.folded"
	flamegraph --title "$heading" --minwidth 0.3% --max-frames 800 "$language.folded" >"$language.svg" ||
		fail "no picture"
	claim "of the time of slow requests, with the function in its chain" 5 "$(share "$regex" "$language.folded")"
}
drawn=0
draw python "A slow request: Python" build_index && drawn=$((drawn + 1))
draw node "A slow request: Node.js" buildIndex && drawn=$((drawn + 1))
draw java "A slow request: Java" Catalogue.buildIndex && drawn=$((drawn + 1))
draw go "A slow request: Go" main.reloadCatalogue && drawn=$((drawn + 1))
[ $drawn -gt 0 ] || skip "none of python3, node, java and go is installed"
printf '\nPictures: %s/{python,node,java,go}.svg\n' "$out"
