#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make rpm": the package has the tree's version, what "make install" installs, requires the libraries that its programs
# load, and its programs run. Nothing is built again for it.
. "$(dirname "$0")/lib.sh"
only_all "it builds a package"
cd "$(dirname "$0")/../.." || exit 1
for tool in rpmbuild rpm2cpio cpio; do
	command -v $tool >/dev/null || skip "no $tool here"
done
is_sanitized && skip "sanitizers need libraries"

(umask 077; timeout 800 sh docs/rpm/build.sh "$tmp" "$build") >"$tmp/out" 2>"$tmp/err"
expect_exit "docs/rpm/build.sh" 0 $?
rpm=$(tail -n 1 "$tmp/out")
field() { rpm -qp --qf "$1" "$rpm" 2>/dev/null; }
expect "package" wakeup-chains "$(field '%{NAME}')"
expect "architecture" "$(uname -m)" "$(field '%{ARCH}')"
mkdir "$tmp/root"
rpm2cpio "$rpm" | (cd "$tmp/root" && cpio -id --quiet) || fail "$rpm is no package"
for program in chaincap chainwalk chaingraph; do
	expect "version of $program" "$(field '%{VERSION}')" "$("$tmp/root/usr/bin/$program" --version | sed 's/.* //')"
done
make -s O="$build" DESTDIR="$tmp/installed" PREFIX=/usr FLAMEGRAPH=no install >/dev/null 2>"$tmp/err"
expect_exit "make install" 0 $?
expect "files" "$(cd "$tmp/installed" && find . ! -type d | sort)" \
	"$(cd "$tmp/root" && find . ! -type d ! -path '*/licenses/*' ! -path '*/.build-id/*' | sed '/\/man\//s/\.gz$//' | sort)"
objdump -p "$tmp"/root/usr/bin/* | awk '$1 == "NEEDED" { print $2 }' | sort -u >"$tmp/needed"
expect_at_least "libraries" 3 "$(wc -l <"$tmp/needed")" "$tmp/needed"
expect "libraries that are required" "$(cat "$tmp/needed")" \
	"$(rpm -qp --requires "$rpm" 2>/dev/null | sed -n 's/^\(.*\.so[.0-9]*\)(.*/\1/p' | sort -u | grep -xFf "$tmp/needed")"
