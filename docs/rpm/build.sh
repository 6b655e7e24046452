#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the RPM package of this tree, as it stands, into $1/rpm: build.sh BUILD_DIR [OBJECTS]
#   OBJECTS   a build folder that is there already, of which nothing is built again
set -eu
out=$(mkdir -p "$1/rpm" && cd "$1/rpm" && pwd)
objects=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")/../.."
command -v rpmbuild >/dev/null || {
	echo "rpm: no rpmbuild here (Debian, Ubuntu: apt-get install rpm; Fedora: dnf install rpm-build)" >&2
	exit 1
}
source=$out/source
log=$out/build.log
rm -rf "$source" "$out"/*.rpm
mkdir "$source"

tar -c --exclude=node_modules --exclude='build*/*' Makefile ./*.mk ./*.md COPYING \
	bench bpf collector docs engine include render tests | tar -x -C "$source"
# Where another packager's tools build, nothing of what is required has an entry in RPM's database.
ignore=
! command -v dpkg-query >/dev/null || ignore=--nodeps
(
	cd "$source"
	unset O SAN CC PREFIX DESTDIR MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL # those of this build are not the package's
	# shellcheck disable=SC2086 # an option, or none
	rpmbuild -bb --build-in-place $ignore --define "_topdir $out/top" --define "_rpmdir $out" \
		--define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' --define '_prefix /usr' \
		${objects:+--define "objects $objects"} docs/rpm/wakeup-chains.spec
) >"$log" 2>&1 || {
	tail -n 40 "$log" >&2
	echo "rpm: rpmbuild failed; the whole of its output is in $log" >&2
	exit 1
}
rm -rf "$source" "$out/top"
echo "$out/$(basename "$out"/*.rpm)"
