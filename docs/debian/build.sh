#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian package of this tree, as it stands, into $1/deb: build.sh BUILD_DIR [ARCH]
# For another architecture than this machine's it takes the distribution's cross compiler; that architecture's libraries
# are fetched, below $1/deb/ARCH, and not installed. Exits 77 and says why if these cannot be had.
#   SYSROOT=DIR   has these libraries already
set -eu
out=$(mkdir -p "$1/deb" && cd "$1/deb" && pwd)
cd "$(dirname "$0")/../.."
command -v dpkg-buildpackage >/dev/null || {
	echo "deb: no dpkg-buildpackage here (Debian, Ubuntu: apt-get install dpkg-dev)" >&2
	exit 1
}
native=$(dpkg --print-architecture)
arch=${2:-$native} cross=
if [ "$arch" = "$native" ]; then
	unset SYSROOT
else
	# Those of Build-Depends that are libraries are not installed.
	cross="--host-arch=$arch --no-check-builddeps"
	type=$(dpkg-architecture -a"$arch" -qDEB_HOST_GNU_TYPE 2>/dev/null)
	command -v "$type-gcc" >/dev/null || {
		echo "deb: no $type-gcc here (Debian, Ubuntu: apt-get install gcc-$(echo "$type" | tr _ -))" >&2
		exit 77
	}
	if [ ! "${SYSROOT:-}" ]; then
		# shellcheck disable=SC2046 # a list
		sh tests/kernels/sysroot.sh "$out/$arch" "$arch" libc6-dev \
			$(sed -n 's/^Build-Depends: //p' docs/debian/control | tr -d ' ' | tr ',' '\n' | grep -e '-dev$') >&2 || exit 77
		SYSROOT=$out/$arch/root
	fi
	export SYSROOT
fi
version=$(dpkg-parsechangelog -l docs/debian/changelog -S Version)
source=$out/wakeup-chains-$version
log=$out/build.log
rm -rf "$source" "$out"/*_"$arch".deb "$out"/*_"$arch".buildinfo "$out"/*_"$arch".changes
mkdir "$source"

tar -c --exclude=node_modules --exclude='build*/*' Makefile ./*.mk ./*.md COPYING \
	bench bpf collector docs engine include render tests | tar -x -C "$source"
cp -R "$source/docs/debian" "$source/debian"
rm "$source/debian/build.sh"
(
	cd "$source"
	unset O SAN CC PREFIX DESTDIR MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL # those of this build are not the package's
	# shellcheck disable=SC2086 # words
	dpkg-buildpackage $cross -jauto --build=binary --unsigned-changes --unsigned-source
) >"$log" 2>&1 || {
	tail -n 40 "$log" >&2
	echo "deb: dpkg-buildpackage failed; the whole of its output is in $log" >&2
	exit 1
}
rm -rf "$source"
echo "$out/$(basename "$out"/*_"$arch".deb)"
