#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing for "build", "static", "test", "fuzz" (after "build"), "lint", "fleet", "kernels", "pages" and "fresh", from the distribution's packages.
# With everything there it says nothing and needs neither root nor a network.
set -eu

if command -v dpkg-query >/dev/null; then
	build="gcc libc6-dev make pkg-config clang bpftool linux-libc-dev libbpf-dev liburing-dev libelf-dev libdw-dev libiberty-dev zlib1g-dev liblzma-dev libzstd-dev libmd-dev libsqlite3-dev"
	static="libbz2-dev"
	test="libcmocka-dev libbz2-dev linux-perf bpftrace libxml2-utils chromium chromium-headless-shell nodejs npm procps util-linux zsh dpkg-dev build-essential man-db golang-go protobuf-compiler sqlite3 python3 python3-protobuf php-cli php-fpm memcached elfutils musl-tools rustc ruby lua5.4 lua-socket perl xz-utils redis-server nginx-light curl openssl mariadb-server postgresql apache2-bin apache2-utils sysbench libpq-dev libnghttp2-dev nghttp2-client python3-grpcio default-jdk-headless debuginfod firefox-esr dmsetup rpm rpm2cpio cpio clickhouse-server podman runc busybox-static"
	version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	fuzz="libclang-rt-${version:-14}-dev"
	fleet="clickhouse-server sqlite3 curl util-linux"
	lint="clang-format cppcheck shellcheck"
	kernels="qemu-system-x86 qemu-system-arm gcc-aarch64-linux-gnu qemu-user-static binutils cpio busybox-static"
	pages="make flex bison bc dwarves xz-utils"
	fresh="debootstrap qemu-system-x86 e2fsprogs"
	has() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
	install() {
		[ -n "$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)" ] || apt-get -q update
		# The servers are for the tests to start: their packages must not.
		policy=/usr/sbin/policy-rc.d
		if [ -e $policy ]; then
			policy=
		else
			printf '#!/bin/sh\nexit 101\n' >$policy
			chmod 755 $policy
			trap 'rm -f $policy' EXIT
		fi
		DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@" ||
			{ apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"; }
	}
	how="apt-get install"
elif command -v dnf >/dev/null; then
	build="gcc glibc-devel make pkgconf clang bpftool kernel-headers libbpf-devel liburing-devel elfutils-libelf-devel elfutils-devel binutils-devel zlib-devel xz-devel libzstd-devel libmd-devel sqlite-devel"
	test="libcmocka-devel libnghttp2-devel nghttp2 perf bpftrace libxml2 chromium nodejs npm procps-ng util-linux gcc-c++ ruby lua lua-socket perl xz golang protobuf-compiler sqlite python3 python3-protobuf elfutils redis elfutils-debuginfod firefox device-mapper rpm-build cpio podman"
	static="glibc-static zlib-static bzip2-static xz-static libzstd-static"
	fuzz="compiler-rt"
	fleet="sqlite curl util-linux"
	lint="clang-tools-extra cppcheck ShellCheck"
	kernels="qemu-system-x86-core cpio busybox"
	pages= # the sources are Debian's
	fresh="debootstrap qemu-system-x86-core e2fsprogs"
	has() { rpm -q --whatprovides "$1" >/dev/null 2>&1; }
	install() { dnf -q -y install --setopt=install_weak_deps=False "$@"; }
	how="dnf install"
else
	echo "deps: neither apt nor dnf here; CONTRIBUTING.md says what is needed" >&2
	exit 0
fi

missing=
for set; do
	case $set in
	build) packages=$build ;;
	static) packages=$static ;;
	test) packages=$test ;;
	fuzz) packages=$fuzz ;;
	lint) packages=$lint ;;
	fleet) packages=$fleet ;;
	kernels) packages=$kernels ;;
	pages) packages=$pages ;;
	fresh) packages=$fresh ;;
	*) echo "deps: no such set: $set" >&2; exit 2 ;;
	esac
	for p in $packages; do
		# npm comes with some nodejs packages and is a package of its own with others.
		[ "$p" = npm ] && command -v npm >/dev/null && continue
		has "$p" || missing="$missing $p"
	done
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "deps: missing:$missing" >&2
	echo "deps: run as root: $how$missing" >&2
	exit 1
fi
echo "deps: installing$missing"
# shellcheck disable=SC2086 # a list of words
install $missing
