#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make dist-sources": the same commit makes the same bytes at another time, and what is in it is the commit.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
unset O SAN MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
[ -e .git ] && command -v git >/dev/null || skip "not a git checkout"

for n in 1 2; do
	(umask 02$n; TZ=UTC+$n timeout 300 make -s O="$tmp/$n" dist-sources) >"$tmp/out" 2>"$tmp/err"
	expect_exit "make dist-sources" 0 $?
	mv "$tmp/$n"/*.tar.gz "$tmp/$n.tar.gz"
	sleep 1.1
done
cmp "$tmp/1.tar.gz" "$tmp/2.tar.gz" || fail "two runs, two archives"
mkdir "$tmp/tree"
tar -xzf "$tmp/1.tar.gz" -C "$tmp/tree" || fail "the archive is none"
version=$("$walk" --version | sed 's/.* //')
expect "top of the archive" "wakeup-chains-$version" "$(ls "$tmp/tree")"
expect "files" "$(git -c safe.directory="$PWD" ls-tree -r --name-only HEAD | sort)" \
	"$(cd "$tmp/tree"/* && find . ! -type d | sed 's,^\./,,' | sort)"
