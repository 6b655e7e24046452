#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who removes a network namespace's devices waits until RCU's callbacks have run: that is what it waits for, and not the
# netlink socket by which it asked.
# Beside another: it judges what its own program waits for.
. "$(dirname "$0")/lib.sh"
needs_more "the object of a call"
command -v ip >/dev/null || skip "ip is not installed"
command -v unshare >/dev/null || skip "unshare is not installed"

# Each device that is deleted takes a grace period; in a namespace of its own, with a name for the threads.
cat >"$tmp/devices" <<'END_OF_SCRIPT'
set -e
ip link add e2e0 type veth peer name e2ep 2>"$0.err" || exit 77
ip link del e2e0
for i in 1 2 3 4 5; do
	ip link add "e2e$i" type veth peer name "e2ep$i"
	ip link del "e2e$i"
done
END_OF_SCRIPT
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- unshare -n sh "$tmp/devices" >"$tmp/told" 2>"$tmp/err"
status=$?
[ $status != 77 ] || skip "no network namespaces, or no veth devices: $(cat "$tmp/devices.err")"
expect_exit "chaincap -- unshare -n sh devices" 0 $status

walk_to "$tmp/ip" -K --objects --state blocked -c '^ip$' "$tmp/trace"
grep -E ';(wait_for_completion[^;]*|__wait_rcu_gp|schedule_timeout|schedule);' "$tmp/ip" |
	grep -E ';(rcu_barrier|synchronize_rcu[a-z_]*|synchronize_net);([a-z_.]*rcu[a-z_.]*;)*((__)?wait_for_co[a-z_]*;)*(schedule_timeout;)?schedule;' \
		>"$tmp/rcu"
[ -s "$tmp/rcu" ] || skip "this kernel removes devices without a wait for RCU"
expect "waits in these functions for something else" "" "$(grep -v ';\[RCU [a-z_]*\];-;' "$tmp/rcu")"
"$walk" -f causes -c '^ip$' "$tmp/trace" >"$tmp/causes" 2>"$tmp/err"
grep -q 'for RCU [a-z]' "$tmp/causes" || fail "the first screen says nothing of RCU
$(cat "$tmp/causes")"
