#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds all programs and unit tests for another architecture by the distribution's cross compiler and that
# architecture's own libraries (sysroot.sh): cross.sh STORE ARCH, into STORE/build-ARCH, warnings being errors.
# What the guest of run.sh needs is in STORE/ARCH/root too. Exits 77 and says why if the tools are not there.
set -u
mkdir -p "$1" && store=$(cd "$1" && pwd) || exit 2
arch=$2
cd "$(dirname "$0")/../.." || exit 2
case $arch in
arm64) cross=aarch64-linux-gnu- ;;
amd64) cross=x86_64-linux-gnu- ;;
*) echo "no such architecture: $arch"; exit 2 ;;
esac
for tool in ${cross}gcc apt-get; do
	command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
sh tests/kernels/sysroot.sh "$store/$arch" $arch libc6-dev linux-libc-dev libgcc-12-dev libbpf-dev liburing-dev \
	libelf-dev libdw-dev libiberty-dev zlib1g-dev liblzma-dev libzstd-dev libmd-dev libsqlite3-dev libcmocka-dev bash busybox-static grep sed coreutils \
	mawk || exit 77
make --no-print-directory -j"$(nproc)" O="$store/build-$arch" CROSS_COMPILE=$cross SYSROOT="$store/$arch/root" WERROR=1 all unit
