# SPDX-License-Identifier: GPL-2.0-or-later
# Finds in shell scripts the awk programs that mawk 1.3.4 (Debian's default) and gawk run differently:
# awk -f awk_programs.awk SCRIPT... The exit status is 1 if it finds any.
#
# mawk converts a calculated number from 2^31 on by OFMT ("3e+09"), and %d stops at 2147483647. Calculated
# is what has an operator in it, and any variable to which something is added. mawk has no {n,m} in
# expressions, no ? or : at the end of a line and none of gawk's own functions.

# begin_program(TEXT): the quote with which an awk program begins in this text of the shell's, else "";
# the text after the quote goes into rest.
function begin_program(text,    head, quote) {
	if (text ~ /^[ \t]*#/ || !match(text, /(^|[^A-Za-z_.\/-])awk[ \t]/))
		return ""
	head = substr(text, RSTART + RLENGTH)
	gsub(/-F *'[^']*'/, "", head)
	if (!match(head, /^"BEGIN|^[^'|]*'/))
		return ""
	quote = head ~ /^"/ ? "\"" : "'"
	rest = substr(head, quote == "'" ? RLENGTH + 1 : 2)
	if (quote == "\"")
		gsub(/\\"/, "\001", rest) # of the program, not the end of it
	return quote
}

function complain(why) {
	printf "%s:%.0f: %s\n\t%s\n", FILENAME, FNR, why, $0
	found = 1
}

# check(CODE): one line of a program.
function check(code,    words, n, i, printed) {
	if (code ~ /printf?[( ].*%[-0-9.*]*[diux]/)
		complain("%d ends at 2147483647 in mawk: use %.0f")
	if (code ~ /(strtonum|gensub|asorti?|systime|strftime|patsplit|and|x?or|[lr]shift)\(/ ||
	    code ~ /(BEGIN|END)FILE|PROCINFO|IGNORECASE|FPAT|@include|\\[y<>]/)
		complain("mawk does not have this")
	if (code ~ /[])A-Za-z.][{][0-9]+,?[0-9]*[}][^ ;]*\//)
		complain("mawk has no {n,m} in expressions")
	if (code ~ /^[^#]*[?:]$/)
		complain("mawk reads no further after ? or : at the end of a line")

	# Text, expressions, subscripts and fields contain operators that do not calculate what is printed.
	gsub(/"([^"\\]|\\.)*"|\001[^\001]*\001|~ *\/([^\/\\]|\\.)*\//, "", code)
	gsub(/[$][(][^()]*[)]|[$]NF/, "", code)
	while (gsub(/\[[^][]*\]/, "", code))
		;
	n = split(code, words, /[^A-Za-z0-9_+*\/=-]+/)
	for (i = 1; i <= n; i++)
		if (words[i] ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && words[i + 1] ~ /^[-+*\/]=/)
			is_sum[words[i]] = 1
	while (match(code, /(^|[^A-Za-z_])print[( ][^;}|>]*/)) {
		printed = substr(code, RSTART, RLENGTH)
		code = substr(code, RSTART + RLENGTH)
		sub(/.*print/, "", printed)
		n = split(printed, words, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= n && !(words[i] in is_sum); i++)
			;
		if (i <= n || printed ~ /[-+*\/%^]|int\(/ || (quote == "\"" && printed ~ /[$]/))
			complain("mawk prints a calculated number as 3e+09: use printf \"%.0f\"")
	}
}

FNR == 1 { quote = "" }
{
	rest = $0
	while (quote != "" || (quote = begin_program(rest)) != "") {
		if (!(end = index(rest, quote))) {
			check(rest)
			next
		}
		check(substr(rest, 1, end - 1))
		rest = substr(rest, end + 1)
		quote = ""
		split("", is_sum)
	}
}
END { exit found }
