#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pages of a size that the distribution has no kernel with: builds one for arm64 from the distribution's
# sources and arm64.config, and boots it as run.sh does: pages.sh BUILD_DIR
#   PAGES   KiB of a page: 4, 16, or 64 (default)
#   SOURCE  the package of the sources (default: linux-source-6.12)
# and what run.sh knows. The build takes half an hour and some GB, once: the kernel stays in $1/kernels, and is
# built again if arm64.config changes. Needs no root. What cannot be had is skipped by name, with the reason.
set -u
mkdir -p "$1/kernels" && O=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
export LC_ALL
pages=${PAGES:-64} source=${SOURCE:-linux-source-6.12}
image=$O/kernels/Image-$source-arm64-${pages}k
cross=aarch64-linux-gnu-

skip() {
	echo "SKIP kernel for arm64 with pages of $pages KiB: $1"
	exit 0
}

fail() {
	tail -n 20 "$tmp/log"
	echo "FAIL kernel for arm64 with pages of $pages KiB: $1"
	exit 1
}

kernel_make() {
	make -C "$tmp/$source" ARCH=arm64 CROSS_COMPILE=$cross "$@" >"$tmp/log" 2>&1
}

build() {
	for tool in apt-get dpkg-deb xz ${cross}gcc make flex bison bc pahole; do
		command -v $tool >/dev/null || skip "no $tool"
	done
	tmp=$(mktemp -d "$O/kernels/linux.XXXXXX") || exit 2
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	(cd "$tmp" && timeout 600 apt-get -q -o APT::Sandbox::User="$(id -un)" download "$source") >"$tmp/log" 2>&1 ||
		skip "$(grep -m 1 '^E:' "$tmp/log" || echo "apt-get download $source took too long")"
	dpkg-deb --fsys-tarfile "$tmp/$source"_*.deb | tar -xO "./usr/src/$source.tar.xz" | xz -dc | tar -x -C "$tmp" 2>"$tmp/log" ||
		fail "the sources are not in $source"
	{
		echo "CONFIG_ARM64_${pages}K_PAGES=y"
		echo "CONFIG_LOCALVERSION=\"-${pages}k\""
		cat kernels/arm64.config
	} >"$tmp/config"
	kernel_make KCONFIG_ALLCONFIG="$tmp/config" allnoconfig || fail "it cannot be configured"
	grep '^CONFIG_' "$tmp/config" | grep -vxFf "$tmp/$source/.config" >"$tmp/log" && fail "its configuration has not these"
	echo "building $source for arm64 with pages of $pages KiB"
	kernel_make -j"$(nproc)" Image || fail "it cannot be built"
	mv "$tmp/$source/arch/arm64/boot/Image" "$image"
	rm -rf "$tmp"
}

[ "$(find "$image" -newer kernels/arm64.config 2>/dev/null)" ] || build
KERNEL_IMAGE=$image KERNEL_ARCH=arm64 exec sh kernels/run.sh "$O"
