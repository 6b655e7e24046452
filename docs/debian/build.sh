#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian package of this tree, as it stands, into $1/deb: build.sh BUILD_DIR
set -eu
out=$(mkdir -p "$1/deb" && cd "$1/deb" && pwd)
cd "$(dirname "$0")/../.."
command -v dpkg-buildpackage >/dev/null || {
	echo "deb: no dpkg-buildpackage here (Debian, Ubuntu: apt-get install dpkg-dev)" >&2
	exit 1
}
version=$(dpkg-parsechangelog -l docs/debian/changelog -S Version)
source=$out/wakeup-chains-$version
log=$out/build.log
rm -rf "$source" "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
mkdir "$source"

tar -c --exclude=node_modules --exclude='build*/*' Makefile ./*.mk ./*.md COPYING \
	bench bpf collector docs engine include render tests | tar -x -C "$source"
cp -R "$source/docs/debian" "$source/debian"
rm "$source/debian/build.sh"
(
	cd "$source"
	unset O SAN CC PREFIX DESTDIR MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL # those of this build are not the package's
	dpkg-buildpackage -jauto --build=binary --unsigned-changes --unsigned-source
) >"$log" 2>&1 || {
	tail -n 40 "$log" >&2
	echo "deb: dpkg-buildpackage failed; the whole of its output is in $log" >&2
	exit 1
}
rm -rf "$source"
echo "$out/$(basename "$out"/*.deb)"
