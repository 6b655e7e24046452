#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose call frame information is empty, random, or made to take much time or memory, or to lead anywhere: the
# recorder ends in time and in its memory, loses nothing, each of their waits begins in the function that it is in, and a
# program beside them, whose tables are right, has whole stacks and chains.
# Beside another: it judges its own programs' stacks.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v setpriv >/dev/null || skip "needs setpriv"
kinds="none ones zeros random flips long long64 self before advance stack unstack cfa expression loop covers"
chmod 755 "$tmp"
cp "$build/chainload-nofp" "$tmp/innocent"
for kind in $kinds; do
	cp "$build/chainload-nofp" "$tmp/$kind"
	"$build/evil_frames" "$tmp/$kind" "$kind" || fail "evil_frames $kind"
	cmp -s "$build/chainload-nofp" "$tmp/$kind" && fail "$kind: nothing has changed"
	setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/$kind" relay --hops pipe --work 50 --rounds 1000000 --seconds 600 \
		>"$tmp/$kind.out" 2>&1 &
	started="$started $!"
	eval "pid_$kind=$!"
done
begin_recording "$tmp/trace" --memory=200M
# The rules of this code take a moment.
timeout 120 "$tmp/innocent" relay --rounds 5 --hops pipe >/dev/null || fail "the relay"
timeout 120 "$tmp/innocent" relay --rounds 40 --hops pipe >"$tmp/told" || fail "the relay"
end_within 20 "$tmp/trace" 200
pid=$(awk '$1 == "process" { print $3 }' "$tmp/told")
walk_to "$tmp/folded" -U --no-objects -c '^alpha$' -p "$pid" "$tmp/trace"
grep -qE '^alpha;.*;thread_main;alpha_runs;alpha_waits;.*read;--;.*write;bravo_wakes_alpha;bravo_runs;thread_main;.*;bravo;' "$tmp/folded" ||
	fail "the relay has no whole chain:
$(cat "$tmp/folded")"
for kind in $kinds; do
	eval "pid=\$pid_$kind"
	is_running "$pid" || fail "$kind does not run: $(cat "$tmp/$kind.out")"
	walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects --state=blocked -c '^alpha$' -p "$pid" "$tmp/trace"
	# The function that made the system call is known without tables.
	! grep -vE ';(read|__read|\[unknown stack\]|__libc_read)[^;]* [0-9]+$' "$tmp/folded" || fail "$kind: waits that are not in read():
$(head -n 5 "$tmp/folded")"
done
echo "note: $mib MiB, $took s to end"
