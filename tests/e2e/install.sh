#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "make install" puts everything where it belongs, the installed programs run, another package's
# "flamegraph" is left alone, and "make uninstall" leaves nothing behind.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
unset O SAN MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES PREFIX DESTDIR

sanitized=$(! is_sanitized || echo SAN=1) # what is built again is built alike
# install_to PREFIX TARGET [VAR=VALUE]: below $tmp/root
install_to() {
	prefix=$1
	shift
	timeout 300 make -s $sanitized O="$build" DESTDIR="$tmp/root" PREFIX="$prefix" "$@" >"$tmp/out" 2>"$tmp/err"
	expect_exit "make $*" 0 $?
}
installed() {
	(cd "$tmp/root" && find . ! -type d | sed 's,^\.,,' | sort)
}

cat >"$tmp/expected" <<EOF
/usr/bin/chaincap
/usr/bin/chaingraph
/usr/bin/chainwalk
/usr/bin/flamegraph
/usr/lib/systemd/system/chaincap-every.service
/usr/lib/systemd/system/chaincap-light.service
/usr/lib/systemd/system/chaincap.service
/usr/share/bash-completion/completions/chaincap
/usr/share/bash-completion/completions/chaingraph
/usr/share/bash-completion/completions/chainwalk
/usr/share/bash-completion/completions/flamegraph
/usr/share/doc/wakeup-chains/CHANGELOG.md
/usr/share/doc/wakeup-chains/chain-semantics.md
/usr/share/doc/wakeup-chains/permanent.md
/usr/share/doc/wakeup-chains/security.md
/usr/share/doc/wakeup-chains/trace-format.md
/usr/share/man/man1/chaincap.1
/usr/share/man/man1/chaingraph.1
/usr/share/man/man1/chainwalk.1
/usr/share/man/man1/flamegraph.1
/usr/share/man/man5/chain-trace.5
/usr/share/zsh/site-functions/_chaincap
/usr/share/zsh/site-functions/_chaingraph
/usr/share/zsh/site-functions/_chainwalk
EOF
umask 077 # whoever installs as root with a careful umask installs for all
install_to /usr install
expect "installed files" "$(cat "$tmp/expected")" "$(installed)"
expect "files that not everybody may read" "" \
	"$(find "$tmp/root/usr" ! -type l ! -perm -o=r)"
install_to /usr install # again, over itself
expect "after a second install" "$(cat "$tmp/expected")" "$(installed)"

bin=$tmp/root/usr/bin
for program in chaincap chainwalk chaingraph flamegraph; do
	"$bin/$program" --version >"$tmp/out" 2>"$tmp/err"
	expect_exit "$program --version" 0 $?
done
expect "flamegraph is" chaingraph "$(readlink "$bin/flamegraph")"
printf 'A;main;recv;--;wake;B;[running] 7\n' >"$tmp/folded"
for program in chaingraph flamegraph; do
	"$bin/$program" "$tmp/folded" >"$tmp/$program.svg" || fail "$program does not draw"
done
grep -q '<svg' "$tmp/chaingraph.svg" || fail "chaingraph wrote no picture"
cmp "$tmp/chaingraph.svg" "$tmp/flamegraph.svg" || fail "the same program draws differently"

if command -v man >/dev/null && [ -x "$(command -v man)" ]; then
	for page in "$tmp"/root/usr/share/man/man?/*; do
		LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" >"$tmp/page" 2>"$tmp/err" &&
			[ ! -s "$tmp/err" ] || fail "$page: $(cat "$tmp/err")"
		grep -q '^SEE ALSO' "$tmp/page" || fail "$page has no SEE ALSO"
	done
else
	echo "note: no man here: the manual pages were not formatted"
fi

install_to /usr uninstall
expect "left after uninstall" "" "$(installed)"

# Another package's program of that name, and its page, stay what they are.
mkdir -p "$tmp/root/opt/bin"
echo theirs >"$tmp/root/opt/bin/flamegraph"
install_to /opt install
grep -q 'another program' "$tmp/err" || fail "it is not said that flamegraph was not installed"
expect "theirs" theirs "$(cat "$tmp/root/opt/bin/flamegraph")"
[ ! -e "$tmp/root/opt/share/man/man1/flamegraph.1" ] || fail "a page for another package's program"
[ -x "$tmp/root/opt/bin/chaingraph" ] || fail "no chaingraph beside their flamegraph"
install_to /opt uninstall
expect "left after uninstall" /opt/bin/flamegraph "$(installed)"

rm -rf "$tmp/root"
install_to /usr install FLAMEGRAPH=no
expect "with FLAMEGRAPH=no" "$(grep -v flamegraph "$tmp/expected")" "$(installed)"
