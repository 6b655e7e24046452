#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An answer that comes from another machine, by a network card's interrupt, 100 ms after each question: the wait for
# it is one for that connection, ends in the network, and is not longer than the thread itself measures. See run.sh
# for who answers.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_more "what a thread waits for, and answers from elsewhere"
rounds=10
[ -e /sys/class/net/eth0 ] || fail "no network card: see run.sh"
ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0 || fail "eth0 cannot be used"
cat >"$tmp/asks" <<END
exec 3<>/dev/tcp/10.0.2.9/7 || exit 1
waited=0
for i in \$(seq $rounds); do
	echo \$i >&3
	from=\${EPOCHREALTIME/[.,]/}
	read -r answer <&3
	waited=\$((waited + \${EPOCHREALTIME/[.,]/} - from))
	[ "\$answer" = "answer \$i" ] || exit 1
done
echo told waited_us \$waited
END
# Up to the link, too, it takes its time.
wait_for "an answer" 60 bash "$tmp/asks" >"$tmp/out" 2>"$tmp/err"
timeout 100 "$cap" -F 0 -o "$tmp/trace" -- bash "$tmp/asks" >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- bash" 0 $?
expect_whole "$tmp/trace"
walk_to "$tmp/folded" --state blocked --objects "$tmp/trace"
grep '^bash;.*;\[tcp 10\.0\.2\.9:7\];' "$tmp/folded" >"$tmp/waits"
all=$(weight_of . "$tmp/waits")
waited=$(($(told waited_us) * 1000))
expect_at_least "ns that bash slept in reading" $((rounds * 20000000)) "$all" "$tmp/folded"
expect_at_most "ns that bash slept in reading" "$waited" "$all" "$tmp/folded"
expect_at_least "of these, ended by a packet that came" $((all * 9 / 10)) "$(weight_of ';--;.*;net_rx_action;' "$tmp/waits")" "$tmp/waits"
# What is too much for an interrupt is left to ksoftirqd, which is a thread.
expect "other ends of what an interrupt brought" "" \
	"$(grep ';--;.*;net_rx_action;' "$tmp/waits" | grep -v -e ';ksoftirqd/[0-9]*;' -e ';\[network\][; ]')"
network=$(weight_of ';\[network\][; ]' "$tmp/waits")
expect_at_least "ns that ended in the network" 20000000 "$network" "$tmp/waits"
echo "note: bash waited $waited ns and slept $all, of which $network ended in the network"
