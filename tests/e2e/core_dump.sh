#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A page fault that crashes a program ends in a core dump, which is what its parent waits for, and no page fault.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
case $(cat /proc/sys/kernel/core_pattern) in
'' | '|'* | /*) skip "cores do not go into the working directory here: $(cat /proc/sys/kernel/core_pattern)" ;;
esac
build_slow dumps
cd "$tmp" || exit 1
# Below a shell: the first process of a command may wait for its children by choice.
first_screen sh -c '"$0" 300; true' "$tmp/dumps"
expect "what the parent saw" "dumped 1" "$(cat "$tmp/told")"
has "dumps/[0-9]+ (and [0-9]+ others? )?ran.* in the kernel: .*core dumps"
