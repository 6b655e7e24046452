#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make deb": the package has the tree's version, depends on the packages of the libraries that its
# programs load and on nothing else, is whole, and its programs run. "make test-deb" installs it.
. "$(dirname "$0")/lib.sh"
only_all "it builds a package"
cd "$(dirname "$0")/../.." || exit 1
command -v dpkg-buildpackage >/dev/null || skip "no dpkg-buildpackage here"
dpkg-checkbuilddeps docs/debian/control 2>"$tmp/err" || skip "$(sed 's/.*: //' "$tmp/err")"

# Not optimized, which takes a third of the time; all else is as it is delivered.
(umask 077; DEB_BUILD_OPTIONS=noopt timeout 800 sh docs/debian/build.sh "$tmp") >"$tmp/out" 2>"$tmp/err"
expect_exit "docs/debian/build.sh" 0 $?
deb=$(tail -n 1 "$tmp/out")
root=$tmp/root
dpkg-deb -R "$deb" "$root" || fail "$deb is no package"

field() { dpkg-deb -f "$deb" "$1"; }
expect "package" wakeup-chains "$(field Package)"
expect "architecture" "$(dpkg --print-architecture)" "$(field Architecture)"
for program in chaincap chainwalk chaingraph; do
	expect "version of $program" "$(field Version)" "$("$root/usr/bin/$program" --version | sed 's/.* //')"
	! readelf -S "$root/usr/bin/$program" | grep -q '\.debug_info' || fail "$program is not stripped"
done

packages_needed "$root"/usr/bin/* >"$tmp/needed"
# As "make" builds them: nothing is left out that is optional.
is_sanitized || expect "the libraries of the programs in the build folder" "$(packages_needed "$cap" "$walk" "$build/flamegraph")" "$(cat "$tmp/needed")"
expect_at_least "libraries" 3 "$(wc -l <"$tmp/needed")" "$tmp/needed"
expect "Depends" "$(cat "$tmp/needed")" "$(packages_in "$(field Depends)")"

(cd "$root" && md5sum --quiet -c DEBIAN/md5sums) || fail "md5sums do not hold"
expect "files without a sum" "$(cd "$root" && find usr -type f | sort)" \
	"$(sed 's/^[^ ]*  //' "$root/DEBIAN/md5sums" | sort)"
expect "files that are not root's" "" "$(dpkg-deb -c "$deb" | grep -v ' root/root ')"
expect "what not everybody may read" "" "$(dpkg-deb -c "$deb" | grep -v '^.......r..')"
expect "the name of other packages' program" "" "$(cd "$root" && find usr -name 'flamegraph*')"
for script in postinst prerm; do
	grep -q 'update-alternatives .* flamegraph' "$root/DEBIAN/$script" || fail "$script forgets the alternative"
done
