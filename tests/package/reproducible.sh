#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the programs twice, from two copies of the sources at different places, into differently placed
# build folders, at different times, with different umasks and locales, and compares them byte for byte;
# where dpkg-buildpackage is there, the Debian packages as well, unless DEB=no: reproducible.sh BUILD_DIR
#   PROGRAMS   which files of the build folder are compared (default: the programs)
#   BUILT=DIR  a build folder that is there already, instead of the first build
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
unset O SAN PREFIX DESTDIR MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SOURCE_DATE_EPOCH
tmp=$(mktemp -d "$out/reproducible.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
programs=${PROGRAMS:-chaincap chainwalk flamegraph}

. tests/package/debian.sh
copy_sources "$tmp/one"
cp -a "$tmp/one" "$tmp/another-place" # the same moment of a tree that may be worked on
# shellcheck disable=SC2046,SC2086 # a list of words
[ "${BUILT:-}" ] || (cd "$tmp/one" && umask 022 && LC_ALL=C TZ=UTC make -s -j2 $(printf 'build/%s ' $programs) >/dev/null)
# shellcheck disable=SC2046,SC2086
(cd "$tmp/another-place" && umask 027 && LC_ALL=C.UTF-8 TZ=Pacific/Auckland \
	make -s -j2 O="$tmp/elsewhere/out" $(printf "$tmp/elsewhere/out/%s " $programs) >/dev/null)

status=0
same() {
	if cmp "$2" "$3"; then
		echo "same $1: $(sha256sum <"$2" | cut -c 1-16), $(wc -c <"$2") bytes"
	else
		echo "DIFFERENT $1"
		status=1
	fi
}
for program in $programs; do
	same "$program" "${BUILT:-$tmp/one/build}/$program" "$tmp/elsewhere/out/$program"
done

if [ "${DEB:-yes}" = no ]; then
	echo "skipped: the Debian package (DEB=no)"
elif ! command -v dpkg-buildpackage >/dev/null; then
	echo "skipped: the Debian package (no dpkg-buildpackage here)"
else
	(cd "$tmp/one" && umask 022 && sh docs/debian/build.sh build >/dev/null)
	(cd "$tmp/another-place" && umask 027 && TZ=Pacific/Auckland sh docs/debian/build.sh "$tmp/elsewhere/out" >/dev/null)
	deb=$(basename "$tmp"/one/build/deb/*.deb)
	same "$deb" "$tmp/one/build/deb/$deb" "$tmp/elsewhere/out/deb/$deb"
	other=arm64
	[ "$(dpkg --print-architecture)" != arm64 ] || other=amd64
	crossed=0
	(cd "$tmp/one" && umask 022 && sh docs/debian/build.sh build $other >/dev/null 2>"$tmp/why") || crossed=$?
	if [ $crossed = 77 ]; then
		echo "skipped: the Debian package for $other ($(tail -n 1 "$tmp/why"))"
	elif [ $crossed != 0 ]; then
		cat "$tmp/why"
		status=1
	else
		(cd "$tmp/another-place" && umask 027 && TZ=Pacific/Auckland sh docs/debian/build.sh "$tmp/elsewhere/out" $other >/dev/null)
		deb=$(basename "$tmp"/one/build/deb/*_$other.deb)
		same "$deb" "$tmp/one/build/deb/$deb" "$tmp/elsewhere/out/deb/$deb"
	fi
fi
exit $status
