#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make WITHOUT=...": chainwalk without the folders that can be left out has none of their functions and libraries, says so,
# refuses what they did with that reason, and writes all else to the byte.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
unset O SAN MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
trace=tests/data/relay.bin
parts='go otlp perfetto stores' san=''
! is_sanitized || san=SAN=1

# What is built already does not need to be built again.
mkdir "$tmp/build"
cp -a "$build/engine" "$build/render" "$build/include" "$build/gen" "$build"/lib* "$tmp/build"
make -s O="$tmp/build" $san WITHOUT="$parts" "$tmp/build/chainwalk" >"$tmp/out" 2>&1 ||
	fail "make WITHOUT=\"$parts\": $(tail -n 20 "$tmp/out")"
bare=$tmp/build/chainwalk
expect "what it says of itself" "$("$walk" --version); built without $parts" "$("$bare" --version)"
for name in go_import format_otlp format_perfetto rows_make sqlite3_open_v2; do
	nm "$walk" | grep -q " [TDRU] $name" || fail "the usual chainwalk has no $name"
	! nm "$bare" | grep " $name" || fail "that is still in it"
done
! readelf -d "$bare" | grep -E 'NEEDED.*lib(sqlite3|md)[.]' || fail "it needs that"

formats_of() { "$1" --help | sed '1,/^Formats:/d; s/^ *\([^ ]*\).*/\1/'; }
for format in $(formats_of "$walk"); do
	"$bare" -q -f "$format" -o "$tmp/bare" $trace 2>"$tmp/err"
	status=$?
	case $format in
	rows | rowbinary | sqlite | otlp | perfetto)
		expect_exit "-f $format, left out" 2 $status
		grep -q "'$format' is none of: folded, .*, html; built without $parts" "$tmp/err" || fail "it says of $format: $(cat "$tmp/err")"
		;;
	*)
		expect_exit "-f $format, with parts left out" 0 $status
		"$walk" -q -f "$format" -o "$tmp/usual" $trace 2>"$tmp/err"
		expect_exit "chainwalk -f $format" 0 $?
		cmp "$tmp/usual" "$tmp/bare" || fail "$format differs"
		;;
	esac
done

"$walk" -q -f info tests/fuzz/corpus/import/go_1_23_real >"$tmp/out" || fail "the usual chainwalk does not read a trace of Go"
"$bare" -q -f info tests/fuzz/corpus/import/go_1_23_real >"$tmp/out" 2>"$tmp/err"
expect_exit "a trace of Go" 1 $?
grep -q 'a trace of Go, and this chainwalk was built without go' "$tmp/err" || fail "of a trace of Go it says: $(cat "$tmp/err")"

! make -s O="$tmp/build" WITHOUT="go gone" "$tmp/build/chainwalk" >"$tmp/out" 2>&1 || fail "it leaves out what does not exist"
grep -q 'WITHOUT=gone: what can be left out is: go otlp perfetto stores' "$tmp/out" || fail "of a wrong name it says: $(cat "$tmp/out")"
