#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian package of the build folder $1 in a fresh Debian below a folder, with nothing but
# its Depends, records there, reads and draws the recording, and removes the package: run.sh BUILD_DIR
#   DEBIAN_BASE   a folder with a fresh Debian, which is copied; left out: debootstrap makes one
#   SUITE         of Debian (default: this machine's)
# Exits 0: works, 1: does not, 77: cannot be tried here.
set -u
LC_ALL=C
export LC_ALL
skip() { echo "SKIP test-deb: $*"; exit 77; }
fail() { echo "FAIL test-deb: $*"; exit 1; }
say() { echo "test-deb: $*"; }

[ "$(id -u)" = 0 ] || skip "a system below a folder needs root"
command -v chroot >/dev/null || skip "no chroot here"
. "$(dirname "$0")/debian.sh"
own_mounts "$0" "$@"
O=$(cd "$1" && pwd) || exit 2
set -- "$O"/deb/*_"$(dpkg --print-architecture)".deb
[ -f "$1" ] || fail "no package in $O/deb: make deb"
deb=$1

tmp=$(mktemp -d /var/tmp/chain-deb.XXXXXX) || exit 2
root=$tmp/root
# Never into something that is still mounted.
trap 'umount -R "$root/proc" "$root/sys" "$root/dev" "$root" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ "${DEBIAN_BASE:-}" ]; then
	cp -a "$DEBIAN_BASE" "$root" || fail "cannot copy $DEBIAN_BASE"
else
	make_debian "$root" 2>"$tmp/log" || skip "$(tail -n 1 "$tmp/log")"
fi
mount_debian "$root" 2>"$tmp/log" || skip "cannot mount here: $(tail -n 1 "$tmp/log")"
inside() { inside_debian "$root" "$@"; }
inside apt-get -q update >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; skip "apt-get update (no network?)"; }
say "a fresh $(inside sh -c '. /etc/os-release; echo "$PRETTY_NAME"'), $(inside dpkg-query -f '.\n' -W | wc -l) packages"

# Somebody else's flamegraph is there first.
printf '#!/bin/sh\necho theirs\n' >"$root/usr/bin/flamegraph"
chmod 755 "$root/usr/bin/flamegraph"
cp "$deb" "$root/tmp/"
name=/tmp/${deb##*/}
before=$(inside dpkg-query -f '${Package}\n' -W | sort)
inside apt-get -q install -y --no-install-recommends "$name" >"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; fail "it does not install"; }
say "installed, with $(inside dpkg-query -f '${Package}\n' -W | grep -vxF "$before" | grep -vx wakeup-chains | tr '\n' ' ')"
[ "$(inside flamegraph)" = theirs ] || fail "another package's flamegraph was replaced"
inside chaingraph --version || fail "chaingraph does not run"

# And without it the name is ours.
rm "$root/usr/bin/flamegraph"
inside apt-get -q install -y --reinstall "$name" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "no reinstall"; }
for program in chaincap chainwalk flamegraph; do
	inside $program --version || fail "$program does not run"
done

limit=60
inside chaincap -o /tmp/trace.bin 1 || fail "it does not record"
inside chainwalk --format=info /tmp/trace.bin >"$tmp/info" || fail "its trace cannot be read"
grep -E '^(events|lost|kernel_counted)' "$tmp/info"
inside sh -c 'chainwalk -q /tmp/trace.bin | flamegraph >/tmp/chain.svg' || fail "no picture"
grep -q '^<rect\|<svg' "$root/tmp/chain.svg" || fail "the picture is empty"
say "recorded, walked and drawn there: $(wc -c <"$root/tmp/trace.bin") bytes of trace, $(wc -c <"$root/tmp/chain.svg") of picture"

inside apt-get -q purge -y wakeup-chains >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "it cannot be removed"; }
left=$(cd "$root" && find usr etc var/lib/dpkg/alternatives -name '*chain[cwg]*' -o -name '*flamegraph*' -o -name 'wakeup-chains*' -o -name '*chain-trace*' -o -name '_chain*')
[ -z "$left" ] || fail "left behind: $left"
say "removed; nothing is left behind"
