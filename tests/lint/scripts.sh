#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that the shell scripts of this tree do the same whichever sh, awk and locale are installed.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
scripts="$(find . -type d \( -name node_modules -o -name 'build*' -o -name .git \) -prune -o -name '*.sh' -print |
	sort) .ci/run docs/debian/postinst docs/debian/prerm"
status=0

# The check itself: each of these has to be reported.
for bad in 'print $2 + 0' '{ sum += $1 } END { print sum' 'printf "%d", $2' '$1 ~ /^[0-9]{3}$/ { print' \
	'x = $1 ?\n1 : 2' 'x = $1 ? 1 :\n2'; do
	if printf "awk '{ %b }'\n" "$bad" | awk -f tests/lint/awk_programs.awk >/dev/null; then
		echo "tests/lint/awk_programs.awk does not find { $bad }"
		status=1
	fi
done
# shellcheck disable=SC2086 # a list
awk -f tests/lint/awk_programs.awk $scripts || status=1

# Warnings include all that dash lacks in a script that asks for sh.
for script in $scripts; do
	shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning --format=gcc "$script" || status=1
done
exit $status
