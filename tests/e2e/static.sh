#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that need no library: below a folder with nothing but them, /proc and /sys they record a program of the
# machine outside, with the names of its functions, and print what those print that use libraries. They are packed with
# their manual pages and licences, in the same bytes each time.
# Beside another: it judges its own program's chains.
. "$(dirname "$0")/lib.sh"
only_all "it links the programs that need no library"
needs_bpf
make_static
for program in chaincap chainwalk flamegraph; do
	readelf -ld "$build/static/$program" >"$tmp/elf"
	! grep -E 'INTERP|NEEDED' "$tmp/elf" || fail "$program needs that"
done

# In a mount namespace of its own, which ends with it.
mkdir -p "$tmp/root/proc" "$tmp/root/sys" "$tmp/root/tmp"
cp "$build"/static/chain* "$build/static/flamegraph" "$tmp/root"
cat >"$tmp/inside" <<END
#!/bin/sh
# inside COMMAND...: with nothing else
exec unshare -m sh -c 'mount --rbind /proc "\$1/proc" && mount --rbind /sys "\$1/sys" && exec chroot "\$@"' sh "$tmp/root" "\$@"
END
printf '#!/bin/sh\nexec "%s" /chaincap "$@"\n' "$tmp/inside" >"$tmp/cap"
chmod 755 "$tmp/inside" "$tmp/cap"
inside() { "$tmp/inside" "$@"; }
cap=$tmp/cap
begin_recording /tmp/trace
for _ in 1 2 3 4 5; do
	"$load" relay --rounds 20 --hops pipe >/dev/null || fail "the relay"
done
end_recording
cp "$tmp/root/tmp/trace" "$tmp/trace"
walk_to "$tmp/folded" -c alpha "$tmp/trace"
grep -q '^alpha;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "names of the relay are missing:
$(head -n 5 "$tmp/folded")"
for format in folded tree causes requests html pprof perfetto info; do
	(cd "$tmp/root" && exec "$walk" -q --format=$format tmp/trace) >"$tmp/with" 2>"$tmp/err"
	expect_exit "chainwalk --format=$format" 0 $?
	inside /chainwalk -q --format=$format tmp/trace >"$tmp/without" 2>"$tmp/err"
	expect_exit "chainwalk --format=$format without libraries" 0 $?
	cmp "$tmp/with" "$tmp/without" || fail "chainwalk --format=$format differs: $(diff "$tmp/with" "$tmp/without" | head -5)"
done
"$build/flamegraph" <"$tmp/folded" >"$tmp/with"
inside /flamegraph <"$tmp/folded" >"$tmp/without"
cmp "$tmp/with" "$tmp/without" || fail "flamegraph differs"
DEBUGINFOD_URLS=http://127.0.0.1:1 "$build/static/chainwalk" --debuginfod "$tmp/trace" 2>&1 >/dev/null |
	grep -q 'built without libraries' || fail "chainwalk does not say why it asks no server"

pack() { sh "$(dirname "$0")/../../docs/static/build.sh" "$build" 0 >"$tmp/out" 2>"$tmp/err" || fail "packing: $(cat "$tmp/err")"; }
pack
packed=$(ls "$build"/wakeup-chains-0-*.tar.gz)
cp "$packed" "$tmp/first"
pack
cmp "$packed" "$tmp/first" || fail "two runs, two archives"
expect_at_most "KiB of the archive" 10240 "$(du -k "$packed" | cut -f 1)"
tar -tzf "$packed" | sed 's,^[^/]*/,,; /^$/d; /\/$/d' | sort | tr '\n' ' ' >"$tmp/listed"
expect "what is in it" "CHANGELOG.md COPYING LICENCES README.md VERSION chaincap chainwalk flamegraph man1/chaincap.1 man1/chainwalk.1 man1/flamegraph.1 man5/chain-trace.5 " "$(cat "$tmp/listed")"
expect_at_least "programs whose build ID is said" 3 "$(tar -xOzf "$packed" --wildcards '*/VERSION' | grep -c 'build ID [0-9a-f]\{40\}$')"
rm "$packed"
