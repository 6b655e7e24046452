#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Asks a question of the rows of many traces: of an SQLite database or of a ClickHouse cluster.
#   ask.sh FILE.db|HOST[:PORT] QUESTION [NAME=VALUE...]
#   QUESTION     a file of this folder, without .sql; picture gives folded lines for flamegraph
#   NAME=VALUE   what the question asks for, see the file; times in seconds since 1970, where a bucket begins
#   DATABASE     of ClickHouse, default fleet; CURL_OPTIONS: such as --user NAME:PASSWORD
# Answers tab-separated, after a line with the columns' names.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
where=$1
question=$2
shift 2
sql=$(grep -v '^--' "$here/$question.sql")
# Defaults stand in the file: -- name=value.
defaults=$(sed -n 's/^-- \([a-z_]*=[^ ]*\).*/\1/p' "$here/$question.sql")
for setting in "$@" $defaults; do
	name=${setting%%=*}
	# As SQL's string, in which a quote is doubled (a backslash would be ClickHouse's escape), and as sed's text.
	case $setting in
	*\\* | *'
'*) echo "ask.sh: $name: neither backslashes nor lines are allowed" >&2; exit 2 ;;
	esac
	# Its own braces are none of the question's.
	value=$(printf %s "${setting#*=}" | sed "s/'/''/g; s/[&|]/\\\\&/g" | tr '{' '\001')
	sql=$(printf '%s\n' "$sql" | sed "s|{$name}|$value|g")
done
case $sql in
*'{'[a-z]*) echo "ask.sh: say $(printf '%s\n' "$sql" | sed -n 's/.*{\([a-z_]*\)}.*/\1=/p' | head -n 1)..." >&2; exit 2 ;;
esac
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
sql=$(printf '%s\n' "$sql" | tr '\001' '{')
if [ -e "$where" ]; then
	printf '.mode list\n.separator "\\t"\n.headers on\n%s;\n' "$sql" | sqlite3 -batch -readonly "$where" >"$answer"
else
	case $where in *:*) ;; *) where=$where:8123 ;; esac
	# shellcheck disable=SC2086 # options
	printf '%s\nFORMAT TabSeparatedWithNames' "$sql" | curl -sS ${CURL_OPTIONS:-} --fail-with-body -o "$answer" --data-binary @- \
		"http://$where/?database=${DATABASE:-fleet}&join_default_strictness=ALL" || { cat "$answer" >&2; exit 1; }
	# Of what ClickHouse escapes, only these occur: texts have no control characters.
	sed -i "s/\\\\\\([\\\\']\\)/\\1/g" "$answer"
fi
case $question in
picture) awk -f "$here/picture.awk" "$answer" | sort -t '	' -k 1,1 | tr '\t' ' ' ;;
*) cat "$answer" ;;
esac
