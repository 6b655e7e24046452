#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Packs the statically linked programs with their manual pages and the licences of all that is linked into them, as
# $1/wakeup-chains-$2-MACHINE.tar.gz. The same programs make the same bytes. "make dist" calls it: build.sh BUILD_DIR VERSION
set -eu
out=$(cd "$1" && pwd)
version=$2
cd "$(dirname "$0")/../.."
name=wakeup-chains-$version-$("${READELF:-readelf}" -h "$out/static/chaincap" |
	sed -n 's/.*Machine: *.*X86-64.*/x86_64/p; s/.*Machine: *AArch64.*/aarch64/p')
tree=$out/static/$name
rm -rf "$tree"
mkdir -p "$tree/man1" "$tree/man5"
for program in chaincap chainwalk flamegraph; do
	"${STRIP:-strip}" -o "$tree/$program" "$out/static/$program"
done
cp docs/chaincap.1 docs/chainwalk.1 docs/flamegraph.1 "$tree/man1"
cp docs/chain-trace.5 "$tree/man5"
cp README.md CHANGELOG.md COPYING "$tree"
# By the packages that their copies came from, where there are packages.
for package in libc6-dev libbpf-dev liburing-dev libelf-dev libdw-dev libiberty-dev zlib1g-dev liblzma-dev libzstd-dev libbz2-dev libmd-dev libsqlite3-dev; do
	file=/usr/share/doc/$package/copyright
	[ ! -e "$file" ] || { printf '==== %s ====\n\n' $package; cat "$file"; echo; }
done >"$tree/LICENCES"
[ -s "$tree/LICENCES" ] || cat >"$tree/LICENCES" <<'END'
Linked into the programs: the GNU C library, libbpf, liburing, elfutils' libelf and libdw, libiberty, zlib, liblzma, libzstd,
libbz2, libmd and SQLite. Their licences come with their sources.
END
{
	echo "wakeup-chains $version"
	for program in chaincap chainwalk flamegraph; do
		echo "$program: build ID $("${READELF:-readelf}" -n "$tree/$program" | sed -n 's/.*Build ID: //p')"
	done
} >"$tree/VERSION"
find "$tree" -type d -exec chmod 755 {} + -o -type f -perm -100 -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
tar --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner --format=ustar \
	-C "$out/static" -cf "$out/$name.tar" "$name"
gzip -9nf "$out/$name.tar"
rm -rf "$tree"
echo "$1/$name.tar.gz"
