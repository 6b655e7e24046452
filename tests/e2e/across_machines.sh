#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two recordings at once, as of two machines: a client's wait in one is explained by the server that answered in the
# other, and the clocks, which are one, are found to be so, within what standard error says. The two have network
# namespaces of their own; receive packet steering hands each packet to another CPU's interrupt, so that no thread
# of this machine is known as the sender.
# Beside another: it judges the waits of its own client and server, in network namespaces of their own.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in python3 unshare nsenter ip taskset; do
	command -v $program >/dev/null || skip "$program is not installed"
done
[ "$(nproc)" -gt 1 ] || skip "with one CPU packets are handed to no other"
case $(uname -r | awk -F '[.-]' '{ print ($1 > 6 || ($1 == 6 && $2 >= 3)) }') in
1) ;;
*) skip "this kernel does not report that data came (sk_data_ready)" ;;
esac

# The server takes 20 ms for one of ten questions; the client asks again at once.
cat >"$tmp/server.py" <<'END_OF_PYTHON'
import socket, sys, time
s = socket.create_server((sys.argv[1], 7000))
open(sys.argv[2], "w").close()
c = s.accept()[0]
n = 0
while c.recv(512):
    n += 1
    if n % 10 == 0:
        time.sleep(0.02)
    c.send(b"answer")
END_OF_PYTHON
cat >"$tmp/client.py" <<'END_OF_PYTHON'
import socket, sys
s = socket.create_connection((sys.argv[1], 7000))
for i in range(300):
    s.send(b"question")
    s.recv(512)
END_OF_PYTHON
cat >"$tmp/ends" <<'END_OF_SCRIPT'
set -e
mount -t sysfs none /sys
ip link add west type veth peer name east
unshare -n sleep 300 &
other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
ip link set east netns $other
ip addr add 10.77.0.1/24 dev west
ip link set west up
nsenter -t $other -n ip addr add 10.77.0.2/24 dev east
nsenter -t $other -n ip link set east up
# What is sent from CPU 0 comes in on CPU 1, and the other way round.
echo 1 >/sys/class/net/west/queues/rx-0/rps_cpus
nsenter -t $other -n unshare -m sh -c 'mount -t sysfs none /sys; echo 2 >/sys/class/net/east/queues/rx-0/rps_cpus'
taskset -c 1 nsenter -t $other -n python3 "$1/server.py" 10.77.0.2 "$1/listens" &
server=$!
until [ -e "$1/listens" ]; do sleep 0.1; done
taskset -c 0 python3 "$1/client.py" 10.77.0.2
wait $server
END_OF_SCRIPT
unshare -n -m true 2>"$tmp/err" || skip "no namespaces can be made here: $(cat "$tmp/err")"
unshare -n ip link add west type veth peer name east 2>"$tmp/err" || skip "no pair of network devices: $(cat "$tmp/err")"

# shellcheck disable=SC2016 # the inner shells'
timeout 200 unshare --uts sh -c 'echo west >/proc/sys/kernel/hostname && exec "$@"' - \
	"$cap" -q -F 0 -o "$tmp/west.bin" -- \
	unshare --uts sh -c 'echo east >/proc/sys/kernel/hostname && exec "$@"' - \
	"$cap" -q -F 0 -o "$tmp/east.bin" -- unshare -n -m sh "$tmp/ends" "$tmp" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- chaincap" 0 $?
expect_whole "$tmp/west.bin"
expect_whole "$tmp/east.bin"

# West asks, east answers. (Both recordings have both ends: for east's own waits it is the other way round.)
asks() { "$walk" --unit ns -c python3 --state blocked "$@" "$tmp/west.bin" "$tmp/east.bin"; }
asks >"$tmp/folded" 2>"$tmp/told"
expect_exit "chainwalk WEST EAST" 0 $?
line=$(grep '^chainwalk: west: of [0-9]* waits that answers of east ended, ' "$tmp/told")
[ "$line" ] || fail "nothing is joined: $(cat "$tmp/told")"
ended=$(echo "$line" | sed 's/.*: of \([0-9]*\) waits.*/\1/')
joined=$(echo "$line" | sed 's/.* ended, \([0-9]*\) are.*/\1/')
# The client may find an answer there already; then it does not wait.
expect_at_least "waits that answers ended" 100 "$ended" "$tmp/told"
expect_at_least "of these, explained by the answer: of $ended; 30 take 20 ms" 20 "$joined" "$tmp/told"
expect "messages that contradict each other" "" "$(grep contradict "$tmp/told")"
# One clock: it is not ahead of itself, within half of what it is said to be known to.
echo "$line" | awk '
	{ ahead = $0; sub(/.*its clock is /, "", ahead); sub(/ s .*/, "", ahead); us = $0; sub(/.*known to /, "", us); sub(/ us.*/, "", us)
	  printf "note: one clock is ahead of itself by %.3f us, known to %s us\n", ahead * 1000000, us
	  exit ahead * 1000000 > us / 2 + 1 }' || fail "a clock is ahead of itself: $line"

# What east did stands behind its name: the server slept for 20 ms, 30 times, and a timer woke it.
grep ';\[network\];\[tcp\];\[on east\];\[request tcp :7000\( first\)*\] python3;' "$tmp/folded" >"$tmp/there"
slept=$(weight_of ';\[on east\];.*hrtimer.*;\[timer\] ' "$tmp/there")
expect_at_least "ns that the server slept for its client, of 600 ms" 400000000 "$slept" "$tmp/folded"
expect_at_most "likewise, in two recordings" 2000000000 "$slept" "$tmp/there"

# Sums are those of the traces one by one.
for trace in west east; do
	"$walk" -q --unit ns -c python3 --state blocked "$tmp/$trace.bin" >"$tmp/$trace.folded"
done
expect "ns in all" "$(cat "$tmp/west.folded" "$tmp/east.folded" | weight_of . -)" "$(weight_of . "$tmp/folded")"
expect "lines that go on, in one trace" 0 "$(grep -c ';\[on ' "$tmp/west.folded")"
expect "lines that go on, with --plain-ends" 0 "$(asks -q --plain-ends | grep -c ';\[on ')"

# Of connections within the machine nothing of all this is recorded.
cat >"$tmp/within.sh" <<END_OF_SCRIPT
rm "$tmp/listens"
python3 "$tmp/server.py" 127.0.0.1 "$tmp/listens" &
until [ -e "$tmp/listens" ]; do sleep 0.1; done
python3 "$tmp/client.py" 127.0.0.1
wait
END_OF_SCRIPT
timeout 100 "$cap" -q -F 0 -o "$tmp/within" -- sh "$tmp/within.sh" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- within.sh" 0 $?
"$walk" -q -f events "$tmp/within" >"$tmp/events" 2>"$tmp/err"
expect "how far connections within a machine are" "" "$(grep ' stream .* at tcp 127' "$tmp/events")"
expect_at_least "requests there" 250 "$(grep -c ' request  *python3.* tcp :7000' "$tmp/events")" "$tmp/events"

# The same in a tree.
asks -q -f tree >"$tmp/tree" || fail "chainwalk -f tree"
grep -q '^  *of that east had the request for [0-9]* ns: \[request tcp :7000\] python3$' "$tmp/tree" ||
	fail "the tree does not go on: $(head -50 "$tmp/tree")"

# And in JSON, where pieces of each wait add up, and so do those of the other machine.
"$walk" -q -c python3 --state blocked -f json "$tmp/west.bin" "$tmp/east.bin" >"$tmp/json" || fail "chainwalk -f json"
python3 - "$tmp/json" >"$tmp/out" 2>"$tmp/err" <<'END_OF_PYTHON' || fail "JSON: $(cat "$tmp/err")"
import json, sys
def there(pieces, ns):
    assert sum(p["ns"] for p in pieces) == ns, (ns, pieces)
    remote = [(p["ns"], p["remote"]) for p in pieces if "remote" in p]
    for ns, r in remote:
        assert r["host"] in ("west", "east") and r["request"]["endpoint"].startswith("tcp :7000"), r
        there(r["pieces"], ns)
    return sum(ns for ns, r in remote if r["host"] == "east")
waits = [json.loads(line) for line in open(sys.argv[1])]
print(sum(there(w["pieces"], w["blocked"] + w["runnable"] + w["preempted"]) for w in waits))
END_OF_PYTHON
expect "ns that east had the requests, in JSON as in folded lines" \
	"$(weight_of ';\[network\];\[tcp\];\[on east\];' "$tmp/folded")" "$(cat "$tmp/out")"
