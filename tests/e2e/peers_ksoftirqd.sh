#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Packets of this machine that do not come in while their sender sends: receive packet steering hands them to another
# CPU, where a flood keeps softirqs busy until the kernel leaves them to ksoftirqd. Whoever delivers has sent nothing:
# a wait that a packet ended is of the network, with the process at the other end by name.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in python3 unshare ip taskset; do
	command -v $program >/dev/null || skip "$program is not installed"
done
[ "$(nproc)" -gt 1 ] || skip "with one CPU packets are handed to no other"

cat >"$tmp/flood.py" <<'END_OF_PYTHON'
import socket, sys, time
def nodelay(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s
def sink():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 5000))
    while True:
        s.recv(2000)
def flood():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", 5000))
    s.setsockopt(17, 103, 100) # SOL_UDP, UDP_SEGMENT: a hundred packets come in for each that is sent
    while True: # not so many at a time that packets are dropped, which TCP would take long to notice
        for _ in range(20):
            s.send(b"x" * 10000)
        time.sleep(0.001)
def server():
    s = nodelay(socket.create_server(("127.0.0.1", 6000)).accept()[0])
    while s.recv(100):
        time.sleep(0.002)
        s.send(b"pong")
def client():
    s = nodelay(socket.create_connection(("127.0.0.1", 6000)))
    end = time.monotonic() + 2
    while time.monotonic() < end:
        time.sleep(0.001)
        s.send(b"ping")
        s.recv(100)
globals()[sys.argv[1]]()
END_OF_PYTHON
# In network and mount namespaces of its own. It tells "NAME PID" of both.
cat >"$tmp/all" <<END_OF_SCRIPT
cd $tmp
mount -t sysfs sysfs /sys && ip link set lo up && echo 2 >/sys/class/net/lo/queues/rx-0/rps_cpus || exit 77
taskset -c 1 python3 flood.py sink & sink=\$!
taskset -c 0 python3 flood.py server & server=\$!
sleep 0.5
taskset -c 0 python3 flood.py flood & flood=\$!
taskset -c 0 python3 flood.py client & client=\$!
echo "server \$server"
echo "client \$client"
wait \$client
kill \$sink \$flood
exit 0
END_OF_SCRIPT

# of NAME: its waits for the other one that packets ended which ksoftirqd brought, in $tmp/NAME; in $tmp/all.NAME all.
of() {
	walk_to "$tmp/all.$1" --objects --state blocked -p "$(awk -v name="$1" '$1 == name { print $2 }' "$tmp/told")" \
		--object '^\[tcp 127[.]0[.]0[.]1:' "$tmp/trace"
	# Not what another thread brought that ksoftirqd had woken.
	grep ';process_backlog;[^-]*;run_ksoftirqd;' "$tmp/all.$1" >"$tmp/$1"
}

for try in 1 2 3; do
	timeout 300 "$cap" -F 0 -o "$tmp/trace" -- unshare -nm sh "$tmp/all" >"$tmp/told" 2>"$tmp/err"
	status=$?
	[ $status != 77 ] || skip "no packet steering here (CONFIG_RPS), or no namespaces"
	expect_exit "chaincap -- unshare -nm all" 0 $status
	of server
	of client
	[ ! -s "$tmp/server" ] || [ ! -s "$tmp/client" ] || break
	echo "note: try $try: ksoftirqd delivered nothing"
done
[ -s "$tmp/server" ] && [ -s "$tmp/client" ] || skip "this kernel leaves no packets to ksoftirqd"

expect_peer() { # of WHOM, and who is at the other end
	expect "ends of what ksoftirqd brought to the $1" "" \
		"$(grep -v ";run_ksoftirqd;\[network\];\[tcp 127[.]0[.]0[.]1:[0-9]* [^ ]*/$2\] " "$tmp/$1")"
	expect "threads that received the $1's packets while they waited for their own" "" \
		"$(grep ';--;[^-]*;process_backlog;[^-]*;\(__skb_recv_udp\|lock_sock_nested\);' "$tmp/all.$1")"
}
expect_peer server "$(awk '$1 == "client" { print $2 }' "$tmp/told")"
expect_peer client "$(awk '$1 == "server" { print $2 }' "$tmp/told")"

# The names are all that changes.
for who in server client; do
	walk_to "$tmp/plain" --objects --plain-ends --state blocked --object '^\[tcp 127[.]0[.]0[.]1:' \
		-p "$(awk -v name=$who '$1 == name { print $2 }' "$tmp/told")" "$tmp/trace"
	expect "ns of the $who's interrupts with --plain-ends" \
		"$(weight_of ';[[](network|timer|interrupt)[]][; ]' "$tmp/all.$who")" \
		"$(weight_of ';\[interrupt\] ' "$tmp/plain")"
done
