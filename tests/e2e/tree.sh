#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=tree shows each wait of a thread with its chain, link after link.
# Beside another: it is about how its own threads' waits are shown.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" alpha relay --rounds 3
walk_to "$tmp/tree" --format=tree -t "$(tid alpha)" "$tmp/trace"
# the wait for all threads to exist comes first, and is woken by the main thread
sed -n '/alpha_waits/,$p' "$tmp/tree" >"$tmp/relay"
names=$(grep -o -w -e bravo_wakes_alpha -e charlie_wakes_bravo -e delta_wakes_charlie -e hrtimer_wakeup \
	"$tmp/relay" | awk '!seen[$0]++' | tr '\n' ' ')
expect "links in the tree, in order" "bravo_wakes_alpha charlie_wakes_bravo delta_wakes_charlie hrtimer_wakeup " \
	"$names"
grep hrtimer_wakeup "$tmp/tree" | grep -q 'woken by a timer' || fail "the timer is not called one in
$(cat "$tmp/tree")"
expect "waits of other threads in the tree of alpha" "" \
	"$(grep -v '^ *asleep in ' "$tmp/tree" | grep -e 'bravo_waits' -e 'charlie_waits' | head -3)"
grep -q '^ *asleep in .* bravo_waits < ' "$tmp/tree" || fail "where bravo slept itself is not in
$(cat "$tmp/tree")"
walk_to "$tmp/whole" -v --format=tree -t "$(tid alpha)" "$tmp/trace"
expect "frames that every sleep goes through, without -v" "" "$(grep -m1 '__schedule <' "$tmp/tree")"
grep -q '__schedule < schedule < .*do_syscall_64 < ' "$tmp/whole" || fail "-v does not show stacks whole in
$(head -20 "$tmp/whole")"
