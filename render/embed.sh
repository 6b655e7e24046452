#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints standard input as a C array $1 with its length $1_len, and as $1_source the hash that allows
# it in a Content-Security-Policy. Embeds page.js and page.css in flamegraph, and the report's script
# and style in chainwalk. A line `//= FILE` is replaced by that file of this directory without its
# comment lines, a line `//= gen/FILE` by that of the folder $2.
dir=$(dirname "$0")
text=$(awk -v dir="$dir" -v gen="$2" '
	$1 == "//=" {
		file = $2 ~ /^gen\// ? gen substr($2, 4) : dir "/" $2
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
hash=$(printf '%s\n' "$text" | sha256sum | cut -c1-64 | tr a-f A-F | basenc --base16 -d |
	base64 -w0) || exit 1
printf '#define %s_source "sha256-%s"\n' "$1" "$hash"
