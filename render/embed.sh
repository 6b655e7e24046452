#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Standard input as a C array named $1, with $1_len, and $1_source, which is how a Content-Security-Policy
# allows it: how page.js and page.css get into flamegraph, and the report's into chainwalk.
# A line `//= FILE` stands for that file of this directory, without its comment lines.
dir=$(dirname "$0")
text=$(awk -v dir="$dir" '
	$1 == "//=" {
		file = dir "/" $2
		while ((got = (getline line < file)) > 0)
			if (line !~ /^[ \t]*\/\//)
				print line
		if (got < 0) {
			print "embed.sh: cannot read " file >"/dev/stderr"
			exit 1
		}
		close(file)
		next
	}
	{ print }') || exit 1
printf 'static const unsigned char %s[] = {\n' "$1"
printf '%s\n' "$text" | od -An -v -tx1 | sed 's/[0-9a-f][0-9a-f]/0x&,/g'
printf '};\nstatic const unsigned long %s_len = sizeof(%s);\n' "$1" "$1"
hash=$(printf '%s\n' "$text" | sha256sum | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64 -w0) || exit 1
printf '#define %s_source "sha256-%s"\n' "$1" "$hash"
