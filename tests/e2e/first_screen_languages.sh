#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen that a person sees of a slow service in Java (the JDK's HttpServer), Node.js (node:http) and Ruby
# (WEBrick), whose runtimes were given nothing: in which function and line a victim waits, and what who held it did. Java has
# no line where a thread was interrupted.
. "$(dirname "$0")/lib.sh"
needs_usual "interpreted code"
[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
languages=$(cd "$(dirname "$0")/../languages" && pwd)
services=$(cd "$(dirname "$0")/../services" && pwd)
# shellcheck source=tests/services/screen.sh
. "$services/screen.sh"
# shellcheck source=tests/languages/record.sh
. "$languages/record.sh"

# expect_screen LANGUAGE REGEX...: each is in the first 22 lines, which are taken together. On a busy machine these may be
# about somebody else.
expect_screen() {
	language_name=$1
	shift
	for _ in 1 2 3; do
		on_terminal "$walk $tmp/trace" | sed 's/\x1b\[[0-9;]*m//g' | head -n 22 >"$tmp/screen"
		! grep -q "^Requests to $endpoint " "$tmp/screen" || break
		language_record "$service" "$cap"
	done
	tr -s '\n ' '  ' <"$tmp/screen" >"$tmp/line"
	for wanted; do
		grep -qE "$wanted" "$tmp/line" || fail "$language_name: not on the first screen: $wanted
$(cat "$tmp/screen")
$(cat "$tmp/err")"
	done
	echo "note: $language_name: $(head -c 150 "$tmp/line")"
}
is_there() {
	for tool in "$@" cc; do
		command -v "$tool" >/dev/null || { echo "note: no $tool"; return 1; }
	done
}
seen=0
if is_there java javac && java -version 2>&1 | grep -qE 'version "17\.'; then
	service=java
	language_record $service "$cap"
	expect_screen Java 'reload holds a monitor, and runs Catalogue\.(buildIndex|reload) \(Catalogue\.java(:1[3-9]|:2[0-5])?\)' \
		'answers Catalogue\.findPrice(:| \(Catalogue\.java:)(39|40)\)? .* waits for a monitor' \
		'reload Catalogue\.(buildIndex|reload)[^%]*% holds it'
	seen=$((seen + 1))
fi
if is_there node; then
	service=node
	language_record $service "$cap"
	# The one thread that answers them all: what it has not read waits for it.
	expect_screen Node.js 'slow because node runs buildIndex \(catalogue\.js:7\) for others' '\(queue\) .* not read by node yet' \
		'node buildIndex( \(catalogue\.js)?:7'
	seen=$((seen + 1))
fi
if is_there ruby && ruby -rwebrick -e 1 2>/dev/null; then
	service=ruby
	language_record $service "$cap"
	# Others that are awake want the interpreter's lock as well.
	expect_screen Ruby \
		"reload holds (the interpreter's lock|a Ruby Mutex)[^,]*, and runs (block in )?(build_index|times) \\(catalogue\\.rb:1[0-9]\\)" \
		"(find_price|run):[0-9]+ .* waits for (the interpreter's lock|a Ruby Mutex)" '% holds it, ran'
	seen=$((seen + 1))
fi
[ $seen -gt 0 ] || skip "neither a JDK 17, nor node, nor WEBrick"
