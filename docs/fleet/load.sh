#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Loads traces into ClickHouse (schema.sql): each into the shard of its host.
#   load.sh [--database NAME] [--keep DAYS] HOST[:PORT],... [TRACE...]
#   HOST:PORT,...     the shards' HTTP interfaces, always in the same order; port 8123 by default
#   --database NAME   default fleet
#   --keep DAYS       drops days of rows that are older
#   CHAINWALK         with options, default chainwalk
#   CURL_OPTIONS      such as --user NAME:PASSWORD
# What was loaded before is not loaded again, also if a shard died in the middle: run it again. One load at a time
# of each trace. Exits 1 if a trace could not be loaded; the others are.
set -eu
export LC_ALL=C
database=fleet
keep=
while [ $# -gt 0 ]; do
	case $1 in
	--database) database=$2; shift 2 ;;
	--keep) keep=$2; shift 2 ;;
	*) break ;;
	esac
done
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
shards=$(echo "$1" | tr , ' ')
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# ask SHARD SQL
ask() {
	case $1 in *:*) at=$1 ;; *) at=$1:8123 ;; esac
	# shellcheck disable=SC2086 # options
	curl -sS --fail-with-body ${CURL_OPTIONS:-} --data-binary "$2" "http://$at/?database=$database"
}

# insert SHARD TABLE FILE: as one block, which is one part of the table and appears as a whole
insert() {
	case $1 in *:*) at=$1 ;; *) at=$1:8123 ;; esac
	# shellcheck disable=SC2086
	curl -sS --fail-with-body ${CURL_OPTIONS:-} --data-binary "@$3" \
		"http://$at/?database=$database&max_insert_block_size=100000000&query=INSERT%20INTO%20$2_shard%20FORMAT%20TabSeparated"
}

# The shard of a host: by a sum of its name, which does not change as long as there are as many shards.
shard_of() {
	sum=$(printf %s "$1" | cksum | cut -d ' ' -f 1)
	# shellcheck disable=SC2086 # a list
	set -- $shards
	shift $((sum % $#))
	echo "$1"
}

# What a shard has of a trace: words TABLE.DAY, besides chains, which may be there twice.
days_of() {
	for table in modules waits traces; do
		echo "SELECT DISTINCT '$table.', intDiv(time, 86400) FROM ${table}_shard WHERE trace = '$2'"
		[ $table = traces ] || echo "UNION ALL"
	done | { ask "$1" "$(cat)" || echo failed; } | tr -d '\t'
}

load() {
	rm -f "$dir"/*.*
	${CHAINWALK:-chainwalk} -q --format=rows "$1" |
		awk -F '\t' -v dir="$dir" '{ file = dir "/" $1 "." int($2 / 86400); sub(/^[^\t]*\t/, ""); print >file }'
	set -- "$dir"/traces.*
	[ -s "$1" ] || return 1
	shard=$(shard_of "$(cut -f 3 "$1")")
	id=$(cut -f 2 "$1")
	there=" $(days_of "$shard" "$id" | tr '\n' ' ')"
	# What others refer to comes first.
	for table in chains modules waits traces; do
		for file in "$dir/$table".*; do
			case $there in
			*failed*) return 1 ;;
			*" ${file##*/} "*) continue ;;
			esac
			[ ! -e "$file" ] || insert "$shard" $table "$file" || return 1
		done
	done
}

failed=0
for trace; do
	load "$trace" || { echo "load.sh: $trace: not loaded" >&2; failed=1; }
done
if [ -n "$keep" ]; then
	oldest=$(($(date +%s) / 86400 - keep))
	for shard in $shards; do
		for table in traces modules chains waits; do
			ask "$shard" "SELECT DISTINCT partition FROM system.parts WHERE active AND database = '$database' AND table = '${table}_shard'" |
				while read -r day; do
					[ "$day" -ge $oldest ] || ask "$shard" "ALTER TABLE ${table}_shard DROP PARTITION $day"
				done
		done
	done
fi
exit $failed
