#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stranger, in namespaces of his own, puts another program of root's where the debug file of one that root runs is
# looked for, and maps that one first. Its functions do not get the other's names.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v objcopy >/dev/null && command -v readelf >/dev/null || skip "needs objcopy and readelf"
[ -d /usr/lib/debug ] || skip "no /usr/lib/debug"
as_stranger="setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urm"
$as_stranger true 2>"$tmp/err" || skip "no namespaces for who is not root: $(cat "$tmp/err")"
chmod 711 "$tmp"
cp "$build/names_load" "$tmp/n_victim"
objcopy --remove-section .note.gnu.build-id --redefine-sym local_sleep=forged_sleep "$tmp/n_victim" "$tmp/impostor" ||
	fail "cannot make the other program"
id=$(readelf -n "$tmp/n_victim" | awk '/Build ID:/ { print $3 }')
rest=${id#??}
strip "$tmp/n_victim"
chmod 755 "$tmp/n_victim" "$tmp/impostor"

cat >"$tmp/attack" <<END
mount -t tmpfs none /usr/lib/debug || exit 1
mkdir -p /usr/lib/debug/.build-id/${id%"$rest"}
ln -s "$tmp/impostor" /usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug
exec "$tmp/n_victim" wait 600000 1000
END
chmod 644 "$tmp/attack"
$as_stranger sh "$tmp/attack" >"$tmp/attacked" 2>&1 &
started="$started $!"
maps_it() { grep -q n_victim "/proc/$!/maps"; }
wait_for "the stranger maps the program" 10 maps_it

# A stack is cut as long as the rules of its code have not been read, on a busy machine for longer than a third of a
# second.
for waits in 300 1500 6000; do
	timeout 300 "$cap" -q -o "$tmp/trace" -- "$tmp/n_victim" wait $waits 1000 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- n_victim" 0 $?
	timeout 300 "$walk" -q -U -d 0 -c n_victim "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk" 0 $?
	! grep -q ';exported_inner;' "$tmp/folded" || break
done
grep -q ';exported_inner;' "$tmp/folded" || fail "no stack of the program: $(head -3 "$tmp/folded")"
! grep -q forged_sleep "$tmp/folded" || fail "named by the stranger: $(grep forged_sleep "$tmp/folded" | head -3)"
