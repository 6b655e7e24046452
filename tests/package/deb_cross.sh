#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make deb ARCH=arm64", or amd64 on arm64: the package is that architecture's, depends on the same packages as this
# machine's own programs, and with these and nothing else its programs print what those print, in qemu's user emulation.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
is_sanitized && skip "what is built with sanitizers is not delivered"
command -v dpkg-buildpackage >/dev/null || skip "no dpkg-buildpackage here"
case $(dpkg --print-architecture) in
arm64) arch=amd64 machine=x86_64 ;;
*) arch=arm64 machine=aarch64 ;;
esac
qemu=$(command -v qemu-$machine-static || command -v qemu-$machine) || skip "no qemu-$machine"

# Not optimized, which takes a third of the time. What is fetched stays in the build folder.
store=$build/kernels/package-$arch
(umask 077; DEB_BUILD_OPTIONS=noopt timeout 800 sh docs/debian/build.sh "$store" $arch) >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status != 77 ] || skip "$(tail -n 1 "$tmp/err")"
expect_exit "docs/debian/build.sh for $arch" 0 $status
deb=$(tail -n 1 "$tmp/out")
dpkg-deb -R "$deb" "$tmp/root" || fail "$deb is no package"

field() { dpkg-deb -f "$deb" "$1"; }
expect "architecture" $arch "$(field Architecture)"
expect "Depends" "$(packages_needed "$cap" "$walk" "$build/flamegraph")" "$(packages_in "$(field Depends)")"
(cd "$tmp/root" && md5sum --quiet -c DEBIAN/md5sums) || fail "md5sums do not hold"
expect "files that are not root's" "" "$(dpkg-deb -c "$deb" | grep -v ' root/root ')"

# shellcheck disable=SC2046 # a list
sh tests/kernels/sysroot.sh "$store/depends" $arch $(packages_in "$(field Depends)") >"$tmp/out" ||
	skip "$(tail -n 1 "$tmp/out")"
emulated() {
	program=$1
	shift
	"$qemu" -L "$store/depends/root" "$tmp/root/usr/bin/$program" "$@"
}
for program in chaincap chainwalk chaingraph; do
	readelf -hS "$tmp/root/usr/bin/$program" >"$tmp/elf"
	grep -qi "machine:.*$(echo $machine | tr _ -)" "$tmp/elf" || fail "$program: $(grep Machine "$tmp/elf")"
	! grep -q '\.debug_info' "$tmp/elf" || fail "$program is not stripped"
	expect "version of $program" "$(field Version)" "$(emulated $program --version 2>"$tmp/err" | sed 's/.* //')"
done
for trace in tests/data/*.bin; do
	for format in folded causes html; do
		"$walk" -q --format=$format "$trace" >"$tmp/own" 2>"$tmp/err"
		expect_exit "chainwalk --format=$format $trace" 0 $?
		emulated chainwalk -q --format=$format "$trace" >"$tmp/other" 2>"$tmp/err"
		expect_exit "$arch's chainwalk --format=$format $trace: $(cat "$tmp/err")" 0 $?
		cmp "$tmp/own" "$tmp/other" || fail "$trace: $format differs: $(diff "$tmp/own" "$tmp/other" | head -5)"
	done
done
"$walk" -q tests/data/relay.bin >"$tmp/folded"
"$build/flamegraph" <"$tmp/folded" >"$tmp/own"
emulated chaingraph <"$tmp/folded" >"$tmp/other" 2>"$tmp/err"
expect_exit "$arch's chaingraph: $(cat "$tmp/err")" 0 $?
cmp "$tmp/own" "$tmp/other" || fail "the picture differs"
