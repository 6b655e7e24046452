#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In a PID namespace of its own, with the host's /proc elsewhere: chains with names of functions, and nothing lost. Where
# the kernel cannot list the threads outside (before Linux 6.2), that is said, else they have their names.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_more "functions that call the C library"
busy 600
started="$started $!"
mkdir "$tmp/host"
# As many rounds as last longer than it takes under emulation, beside what is busy, until the rules of its code are read.
unshare -m -p -f sh -c "mount -o bind /proc '$tmp/host' && mount -t proc proc /proc && exec \"\$@\"" sh \
	"$cap" -v -o "$tmp/trace" -- "$load" relay --hops pipe --rounds 100 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap in a PID namespace" 0 $?
cp "$tmp/err" "$tmp/said"
grep -q "user functions are named by the host's /proc (/" "$tmp/err" || fail "it is not said where names come from: $(cat "$tmp/err")"
read_info "$tmp/trace"
expect "events in the log and lost" "$counted" $((events + lost))
walk_to "$tmp/folded" -c '^alpha$' "$tmp/trace"
grep -q '^alpha;.*;alpha_waits;.*;--;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "names are missing: $(cat "$tmp/said" "$tmp/folded")"
walk_to "$tmp/folded" --all "$tmp/trace"
case $(uname -r) in
[1-5].* | 6.[01].*)
	grep -q 'threads outside of this PID namespace lack what they did before: .*Linux 6.2' "$tmp/said" ||
		fail "it is not said that threads are not listed: $(cat "$tmp/said")"
	;;
*) grep -q '^ping;.*;ping_waits;' "$tmp/folded" || fail "threads outside have no names: $(cut -d ';' -f 1 "$tmp/folded" | sort | uniq -c)" ;;
esac
