#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=tree shows each wait of a thread with its chain, link after link.
. "$(dirname "$0")/lib.sh"
needs_bpf
record "$tmp/trace" relay --rounds 3
walk_to "$tmp/tree" --format=tree -t "$(tid alpha)" "$tmp/trace"
names=$(grep -o -w -e bravo_wakes_alpha -e charlie_wakes_bravo -e delta_wakes_charlie -e '\[interrupt\]' \
	"$tmp/tree" | awk '!seen[$0]++' | tr '\n' ' ')
case $names in
*bravo_wakes_alpha*charlie_wakes_bravo*delta_wakes_charlie*) ;;
*) fail "links in the tree, in order
expected: bravo_wakes_alpha charlie_wakes_bravo delta_wakes_charlie
got:      $names
$(cat "$tmp/tree")" ;;
esac
case $names in
*'[interrupt]'*) ;;
*) fail "no [interrupt] in
$(cat "$tmp/tree")" ;;
esac
expect "waits of other threads in the tree of alpha" "" \
	"$(grep -e 'bravo_waits' -e 'charlie_waits' "$tmp/tree" | head -3)"
