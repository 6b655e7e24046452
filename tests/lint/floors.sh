#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that data flows one way: a room includes and calls only itself, the rooms below it on its
# floors, and include/ (bpf/ nothing of include/common/); no two files include or call each other in
# a circle. Prints what breaks the rule and exits 1. Run by make lint.
#   floors.sh [BUILD]    calls are those between the object files in BUILD; without it, includes only
set -eu
build=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/../.."
LC_ALL=C
export LC_ALL

# The floors, from the top; "." is the folder itself. ARCHITECTURE.md draws them.
floors() {
	case $1 in
	engine) echo ". report otlp perfetto stores formats answer causes fold select attribute hosts words symbols timeline go import trace base" ;;
	collector) echo ". flight unwind events interpreters context probes names elf kallsyms files helper kernel log routes" ;;
	bpf | render) echo . ;;
	include) echo "common ." ;;
	esac
}

# "FILE INCLUDED" for each include in quotes that is a file of the same program.
includes() {
	find "$1" -name '*.[ch]' | sort | while read -r file; do
		room=${file%/*}
		sed -n 's/^#include "\(.*\)".*/\1/p' "$file" | while read -r name; do
			case $1:$name in
			bpf:common/*) echo "$file: $name is not for BPF programs" >&2; echo "$file ?" ;;
			collector:common/xalloc.h) echo "$file: $name is not for who has to survive" >&2; echo "$file ?" ;;
			esac
			for path in "$room/$name" "$1/$name"; do
				[ -e "$path" ] && echo "$file $path" && break
			done || [ -e "include/$name" ] || case $name in
			*.skel.h | call_list.h | page_*.h | report_*.h | *_schema.h | parts.h) ;; # made when building
			*) echo "$file: $name is in no room that it may enter" >&2; echo "$file ?" ;;
			esac
		done
	done
}

# "FILE DEFINING" for each function or variable of another file of the program that a file uses.
calls() {
	find "$1" -name '*.c' | sed 's/c$/o/' | (cd "$build" && xargs nm -A -g) | awk '
		{ file = $1; sub(":.*", "", file); sub(/o$/, "c", file) }
		$(NF - 1) == "U" { user[file " " $NF] = 1; next }
		$(NF - 1) ~ /^[TDBRVWC]$/ { definer[$NF] = file }
		END {
			for (use in user) {
				split(use, word, " ")
				if (word[2] in definer && definer[word[2]] != word[1])
					print word[1], definer[word[2]]
			}
		}' | sort -u
}

# judge PROGRAM VERB FILE: FILE has a line "FROM TO" for each use; sets bad.
judge() {
	awk -v floors="$(floors "$1")" -v program="$1" -v verb="$2" '
		function room(path) {
			sub("^" program "/", "", path)
			return sub("/[^/]*$", "", path) ? path : "."
		}
		BEGIN { n = split(floors, name, " "); for (i = 1; i <= n; i++) floor[name[i]] = i }
		floor[room($2)] < floor[room($1)] { print $1 " " verb " " $2 ", which is above it"; bad = 1 }
		END { exit bad }' "$3" || bad=1
	# tsort names the files of each circle on standard error. A file and its own headers are one.
	sed 's/\(_private\)*[.][ch]\>//g' "$3" | awk '$1 != $2' >"$tmp/pairs"
	if ! tsort "$tmp/pairs" >/dev/null 2>"$tmp/circles"; then
		sed "s/^tsort: /$1: a circle of $2: /" "$tmp/circles"
		bad=1
	fi
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
for program in include bpf collector engine render; do
	# shellcheck disable=SC2044 # no spaces in the names of this tree
	for folder in $(find "$program" -type d); do
		room=${folder#"$program"}
		room=${room#/}
		case " $(floors $program) " in
		*" ${room:-.} "*) ;;
		*) ls "$folder"/*.[ch] >/dev/null 2>&1 && echo "$folder is on no floor" && bad=1 ;;
		esac
	done
	includes $program >"$tmp/includes"
	grep ' ?$' "$tmp/includes" && bad=1
	grep -v ' ?$' "$tmp/includes" >"$tmp/uses" || :
	judge $program includes "$tmp/uses"
	case $program in include | collector | engine | render)
		[ -z "$build" ] || { calls $program >"$tmp/uses"; judge $program calls "$tmp/uses"; } ;;
	esac
done
# Flags for a file that has another name by now would be nobody's.
# shellcheck disable=SC2013,SC2016 # no spaces; make's
for object in $(grep -ho '\$(O)/\(include\|collector\|engine\|render\)/[a-z0-9_/]*\.o' Makefile ./*.mk tests/tests.mk | sort -u); do
	source=${object#*)/}
	[ -e "${source%.o}.c" ] || { echo "the Makefile has $source, which has no source"; bad=1; }
done
exit $bad
