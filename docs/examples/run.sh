#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the examples of docs/tutorial.md, which record anew, against the programs in the build folder $1.
# EXAMPLES="name..." picks some. Fails if a cause is not found; what cannot run here is said by name.
set -u
O=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")" || exit 2
passed=0 failed='' skipped=''
for example in ${EXAMPLES:-postgres workers pipeline loopback jobserver shop languages}; do
	printf '\n======== %s: %s\n' "$example" "$(sed -n '3s/^# //p' "$example.sh")"
	timeout 180 sh "$example.sh" "$O"
	case $? in
	0) passed=$((passed + 1)) ;;
	77) skipped="$skipped $example" ;;
	*) failed="$failed $example" ;;
	esac
done
printf '\n%s\n' "demo-all: the cause was found in $passed${failed:+, not found in:$failed}${skipped:+, not run here:$skipped}"
[ -z "$failed" ]
