#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A waker that did not exist yet when the wait began: the chain goes on with who started it, and
# with what that one waited for.
# Beside another: it is about chains of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf

echo '(sleep 0.3; /bin/echo x; true) | cat' >"$tmp/pipeline.sh"
for try in 1 2 3; do
	timeout 300 "$cap" -F 0 -q -o "$tmp/trace" -- bash "$tmp/pipeline.sh" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- bash pipeline.sh" 0 $?
	walk_to "$tmp/folded" -c '^cat$' --min-wait 100ms "$tmp/trace"
	grep -q ';\[unknown\] ' "$tmp/folded" && [ "$(holes "$tmp/trace")" -gt 0 ] || break
	echo "note: try $try: [unknown] beside $(holes "$tmp/trace") untraced switches"
done
awk '
	{ all += $NF }
	/;\[unknown\] / { unknown += $NF }
	/;echo;--;.*;bash;--;.*;sleep;--;.*;\[timer\] / { timer += $NF }
	END {
		printf "of %.0f ns that cat waited, %.0f are explained by the timer of the sleep before echo\n", all, timer
		# the rest, if any, is how long a busy machine let echo wait for a CPU
		exit !(timer > 250000000 && unknown < all / 100)
	}' "$tmp/folded" || fail "the chain does not lead through who started the waker
$(cat "$tmp/folded")"
walk_to "$tmp/tree" -f tree -c '^cat$' --min-wait 100ms "$tmp/trace"
grep -q 'woken by echo .*was not started yet for' "$tmp/tree" && grep -q 'started by bash' "$tmp/tree" ||
	fail "the tree does not tell who started the waker
$(cat "$tmp/tree")"
