#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the folder DIR a root with the distribution's packages for another architecture, unpacked, with all
# that they depend on: what a cross compiler needs to find headers and libraries, and what a guest in qemu
# runs. Needs no root; nothing is installed, and this machine's own lists of packages are not touched:
#   sysroot.sh DIR ARCH PACKAGE...
# Says why it cannot be had, and exits 1. Does nothing if DIR was made with the same packages before.
# DIR/root/DEBIAN has the symbols and shlibs of these packages, so that dpkg-shlibdeps -SDIR/root knows them.
# APT_CONFIG=DIR/apt.conf makes apt know that architecture's packages.
set -u
LC_ALL=C
export LC_ALL
mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
arch=$2
shift 2
[ "$(cat "$dir/packages" 2>/dev/null)" != "$*" ] || exit 0

# An apt of its own: the sources of this machine, for that architecture, with nothing installed.
apt=$dir/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
cat >"$dir/apt.conf" <<END_CONF
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
END_CONF
APT_CONFIG=$dir/apt.conf
export APT_CONFIG
{
	timeout 300 apt-get -q update &&
		timeout 900 apt-get -q -y --download-only install "$@"
} >"$dir/log" 2>&1 </dev/null || {
	grep -m 1 '^E:' "$dir/log" || echo "apt-get took too long"
	exit 1
}
rm -rf "$dir/root" && mkdir -p "$dir/root/DEBIAN"
# As one tree: the folders that are links there are made first, by the package that has nothing else.
for folder in bin lib sbin; do
	mkdir -p "$dir/root/usr/$folder" && ln -s usr/$folder "$dir/root/$folder"
done
for deb in "$apt"/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$dir/root" || exit 1
	for file in symbols shlibs; do
		dpkg-deb -I "$deb" $file >>"$dir/root/DEBIAN/$file" 2>/dev/null
	done
done
rm -f "$apt"/archives/*.deb
# Links from the root on are meant from that root on.
find "$dir/root" -type l -lname '/*' | while read -r link; do
	ln -sf "$dir/root$(readlink "$link")" "$link"
done
echo "$*" >"$dir/packages"
