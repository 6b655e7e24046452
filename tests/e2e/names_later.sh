#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace of a stripped program that is gone is named later by debug files with its build ID: in the layout
# of /usr/lib/debug, as any file in a folder, or from a debuginfod server. --inline makes frames of inlined
# functions and shows source lines. A file with another build ID names nothing.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v objcopy >/dev/null && command -v readelf >/dev/null || skip "needs objcopy and readelf"
DEBUGINFOD_URLS=
export DEBUGINFOD_URLS

cp "$build/names_load" "$tmp/n_later"
mkdir "$tmp/any" "$tmp/layout" "$tmp/other" "$tmp/any/deep"
objcopy --only-keep-debug "$tmp/n_later" "$tmp/any/deep/file" || fail "cannot make a debug file"
id=$(readelf -n "$tmp/n_later" | awk '/Build ID:/ { print $3 }')
rest=${id#??}
mkdir -p "$tmp/layout/.build-id/${id%"$rest"}"
cp "$tmp/any/deep/file" "$tmp/layout/.build-id/${id%"$rest"}/$rest.debug"
# The right place, the wrong program.
mkdir -p "$tmp/other/.build-id/${id%"$rest"}"
cp "$build/chainload" "$tmp/other/.build-id/${id%"$rest"}/$rest.debug"
strip "$tmp/n_later"
# A stack is cut as long as the rules of its code have not been read, on a busy machine for longer than a third of a
# second.
for waits in 300 1500 6000; do
	timeout 300 "$cap" -q -o "$tmp/trace" -- "$tmp/n_later" wait $waits 1000 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- n_later" 0 $?
	! "$walk" -q -U -d 0 -c n_later "$tmp/trace" 2>/dev/null | grep -q ';main;.*;exported_inner;' || break
done
rm "$tmp/n_later"

# later OPTION...: the stacks of the program's main thread, root first, in $tmp/folded.
later() {
	timeout 300 "$walk" -U -d 0 -c n_later --within exported_inner "$@" "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk $*" 0 $?
}
named='main;exported_outer;local_outer;exported_inner;local_inner;local_sleep'
has() {
	grep -q ";$2[; ]" "$tmp/folded" || fail "$1
expected: $2
got:
$(cat "$tmp/folded" "$tmp/err")"
}
has_not() {
	! grep -q local_ "$tmp/folded" || fail "$1 names local functions:
$(cat "$tmp/folded")"
}

later
has_not "a trace alone"
later --debug-dir "$tmp/other"
has_not "a file with another build ID"
later --debug-dir "$tmp/layout"
has "--debug-dir, by the build ID's path" "$named"
grep -q 'names for [1-9][0-9]* of' "$tmp/err" || fail "no word about debug files in: $(cat "$tmp/err")"
later --debug-dir "$tmp/other" --debug-dir "$tmp/any"
has "--debug-dir, a file of any name" "$named"
later --within local_sleep --debug-dir "$tmp/any"
has "filters see these names" "$named"

later --debug-dir "$tmp/any" --inline
has "--inline" "$named;inlined_sleep"
timeout 300 "$walk" -f tree -v -c n_later --debug-dir "$tmp/any" --inline "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
expect_exit "chainwalk -f tree --inline" 0 $?
grep -q 'inlined_sleep (names_load.c:[0-9]*) < local_sleep (names_load.c:[0-9]*) < local_inner' "$tmp/tree" ||
	fail "tree without lines: $(grep local_sleep "$tmp/tree" | head -3)"
timeout 300 "$walk" -f json -c n_later --debug-dir "$tmp/any" --inline "$tmp/trace" >"$tmp/json" 2>"$tmp/err"
grep -q '"local_sleep (names_load.c:[0-9]*)","inlined_sleep (names_load.c:[0-9]*)"' "$tmp/json" || fail "json without lines"
if has_pprof; then
	timeout 300 "$walk" -q -f pprof -U -c n_later --debug-dir "$tmp/any" --inline -o "$tmp/profile" "$tmp/trace"
	expect_exit "chainwalk -f pprof --inline" 0 $?
	# The source beside its time: the lines of the calls have it, those of other functions do not.
	pprof -list '^(local_sleep|inlined_sleep|main)$' "$tmp/profile" >"$tmp/list"
	for call in 'inlined_sleep();' 'nanosleep(&t, NULL);'; do
		grep -q "[0-9]m\{0,1\}s  *[0-9]*:.*$call" "$tmp/list" || fail "no time at the line with $call
$(cat "$tmp/list")"
	done
	pprof -top -lines "$tmp/profile" >"$tmp/top"
	grep -q ' inlined_sleep .*/names_load\.c:[0-9]' "$tmp/top" || fail "pprof -lines: $(head -20 "$tmp/top")"
	timeout 300 "$walk" -q -f pprof -U -c n_later --debug-dir "$tmp/any" -o "$tmp/profile" "$tmp/trace"
	pprof -top -lines "$tmp/profile" >"$tmp/top"
	! grep -q 'names_load\.c' "$tmp/top" || fail "lines without --inline: $(head -20 "$tmp/top")"
else
	echo "note: no go with pprof: source lines in a profile are not read back"
fi

"$walk" --debug-dir "$tmp/missing" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "a folder that is missing" 2 $?
later --debuginfod
grep -q 'DEBUGINFOD_URLS names no server' "$tmp/err" || fail "--debuginfod without servers says nothing:
$(cat "$tmp/err")"

if ! command -v debuginfod >/dev/null; then
	echo "note: without debuginfod: no server is asked"
	exit 0
fi
serve_debug_files "$tmp/any"
DEBUGINFOD_CACHE_PATH=$tmp/cache
export DEBUGINFOD_CACHE_PATH
later
has_not "without --debuginfod, a server that could be asked"
[ ! -e "$tmp/cache" ] || fail "a server was asked without --debuginfod"
later --debuginfod
has "--debuginfod" "$named"
