#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the first screen calls something chooses it: endpoints by --request, processes by -p, threads by -t, as they are
# written there, with their ids.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
data=$(dirname "$0")/../data

# chooses TRACE OPTION NAME: and no other name with more behind it
chooses() {
	"$walk" -q -f causes "$2" "$3" "$1" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk $2 '$3' $1: $(cat "$tmp/err")" 0 $?
	! "$walk" -q -f causes "$2" "$3/4194303" "$1" >"$tmp/out" 2>"$tmp/err" || fail "$2 '$3/4194303' chooses something in $1"
}

for trace in "$data"/*.bin "$data"/services/*.bin; do
	"$walk" -q --json "$trace" | python3 -c '
import json, sys
for subject in json.load(sys.stdin)["subjects"]:
    option = {"endpoint": "--request", "thread": "-t", "path": "-p"}.get(subject["kind"])
    # A name that is not printable is written with "?".
    if option and "?" not in subject["name"]:
        print(option, subject["name"], sep="\t")' >"$tmp/names" || fail "$trace: no subjects"
	while IFS="$(printf '\t')" read -r option name; do
		chooses "$trace" "$option" "$name"
		# What was named is told of.
		[ "$option" != --request ] || {
			"$walk" -q -f causes --wide "$option" "$name" "$trace" | tr '\n' ' ' >"$tmp/told"
			grep -qF "$(echo "$name" | sed 's/ first//')" "$tmp/told" || fail "$trace: nothing of $name: $(cat "$tmp/told")"
		}
		echo "$option" >>"$tmp/tried"
	done <"$tmp/names"
done
expect_at_least "endpoints" 8 "$(grep -c -e --request "$tmp/tried")" "$tmp/tried"
expect_at_least "threads" 5 "$(grep -c -e -t "$tmp/tried")" "$tmp/tried"

# Of a process, with its id, and not with that of another one.
chooses "$data/shop.bin" -p front/20002
! "$walk" -q -f causes -p front/20001 "$data/shop.bin" >"$tmp/out" 2>"$tmp/err" || fail "-p takes a name with the id of another process"
exit 0
