#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TCP's own timers: a request in two pieces waits for a delayed acknowledgement (Nagle's algorithm), what is lost is sent
# again, and so is a connection's first packet where the accept queue is full. A wait for such a timer is told as that,
# and no other. The client measures how long it waited, the kernel counts what TCP did, in a network namespace of its own.
# Beside another: it judges the waits of its own client, in a network namespace of its own.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../services/screen.sh"
needs_usual "timers of TCP"
for program in python3 unshare ip; do
	command -v $program >/dev/null || skip "$program is not installed"
done
unshare -n true 2>"$tmp/err" || skip "no network namespaces: $(cat "$tmp/err")"

cat >"$tmp/tcp.py" <<'END_OF_PYTHON'
import ctypes, os, socket, struct, sys, threading, time
def named(name):
    open("/proc/self/comm", "w").write(name)
def beside(name, what):
    child = os.fork()
    if not child:
        named(name)
        what()
        os._exit(0)
    return child
def count(name):
    lines = [l.split() for f in ("netstat", "snmp") for l in open("/proc/net/" + f)]
    for names, values in zip(lines[::2], lines[1::2]):
        if name in names and names[0] in ("TcpExt:", "Tcp:"):
            return int(values[names.index(name)])
    return 0
TCP_QUICKACK, SO_ATTACH_FILTER, SO_DETACH_FILTER = 12, 26, 27
nothing = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0)) # BPF_RET 0: all packets are dropped
def drop_for(s, seconds):
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(nothing)))
    threading.Timer(seconds, lambda: s.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)).start()
def get(s, n):
    while n:
        piece = s.recv(n)
        if not piece:
            os._exit(0)
        n -= len(piece)
def measured(what, *args):
    global waited
    begin = time.monotonic()
    result = what(*args)
    waited += time.monotonic() - begin
    return result
def ask(s, *pieces):
    for piece in pieces:
        s.send(piece)
    get(s, 6)
def serve(before_each=lambda s: None, nap=0):
    s = listener.accept()[0]
    while True:
        before_each(s)
        get(s, 8)
        time.sleep(nap)
        s.send(b"answer")
def delayed(s):
    s.setsockopt(socket.IPPROTO_TCP, TCP_QUICKACK, 0)
def lossy(s):
    drop_for(s, 0.1)
    os.write(ready[1], b"r")
def accept_late():
    time.sleep(0.5)
    kept = [listener.accept()[0] for i in range(4)]
    time.sleep(0.1)
def connect():
    s = measured(socket.create_connection, address)
    os.write(1, b"waited %d\n" % int(waited * 1e9)) # in one piece: several write at once
    return s
def asks(times, *pieces):
    named("client")
    s = socket.create_connection(address)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, len(pieces) == 1)
    for i in range(times):
        if what == "lost":
            os.read(ready[0], 1)
        measured(ask, s, *pieces)
    print("waited", int(waited * 1e9))

what, waited, ready = sys.argv[1], 0, os.pipe()
counted = ("DelayedACKs", "RetransSegs", "ListenOverflows")
listener = socket.create_server(("127.0.0.1", 0), backlog=1)
address = listener.getsockname()
children = []
if what == "nagle":
    beside("server", serve)
    asks(20, b"head", b"body")
elif what == "slow": # delayed acknowledgements that nobody waits for
    beside("server", lambda: serve(delayed, 0.06))
    asks(10, b"headbody")
elif what == "lost":
    beside("server", lambda: serve(lossy))
    asks(4, b"headbody")
elif what == "full":
    children = [beside("server", accept_late)]
    for i in range(4):
        children.append(beside("client", connect))
        time.sleep(0.02)
elif what == "lost-first": # what asks for a connection is lost, but the accept queue has room
    drop_for(listener, 0.3)
    named("client")
    connect()
for child in children:
    os.waitpid(child, 0)
for name in counted:
    print(name, count(name))
END_OF_PYTHON

# run WHAT: what it tells in $tmp/told, the client's waits in $tmp/waits; $waited: how long they were by its clock,
# of connections the long ones; $network: what packets ended of them
run() {
	timeout 300 "$cap" -F 0 -o "$tmp/trace" -- unshare -n sh -c 'ip link set lo up && exec python3 "$@"' sh "$tmp/tcp.py" "$1" \
		>"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- python3 tcp.py $1" 0 $?
	walk_to "$tmp/waits" --state blocked -c '^client$' --object '^\[tcp 127[.]0[.]0[.]1:' "$tmp/trace"
	waited=$(awk '$1 == "waited" && $2 > 100e6 { sum += $2 } END { printf "%.0f\n", sum }' "$tmp/told")
	network=$(weight_of ';\[network\][; ]' "$tmp/waits")
	"$walk" -f causes "$tmp/trace" 2>"$tmp/err" | tr -s ' \n' ' ' >"$tmp/causes"
	on_terminal "$walk -q $tmp/trace" | screenful >"$tmp/screen"
}

counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/told"
}

# expect_timer WHAT NAME WORDS THING: most of the client's waits, and nearly all that packets ended, is of this timer.
expect_timer() {
	expect_at_least "$1: waits for the network, of $waited ns by the client's clock" $((waited / 2)) "$network" "$tmp/waits"
	expect_at_least "$1: [$2] in waits for the network" $((network * 8 / 10)) \
		"$(weight_of ";\\[network\\];\\[$2\\];\\[tcp\\] " "$tmp/waits")" "$tmp/waits"
	expect_at_most "$1: [$2] in the client's waits" "$waited" "$(weight_of ";\\[$2\\]" "$tmp/waits")" "$tmp/waits"
	grep -q " waits for $4, tcp" "$tmp/screen" || fail "$1: no line of the screen says \"$4\"
$(cat "$tmp/screen")"
	grep -qF ", until $3" "$tmp/causes" || fail "$1: no cause says \"$3\"
$(fold -w 120 -s "$tmp/causes")"
}

# expect_none WHAT NAME
expect_none() {
	expect "$1: waits for [$2]" "" "$(grep ";\\[$2\\]" "$tmp/waits")"
}

run nagle
expect_at_least "nagle: delayed acknowledgements that the kernel counted" 15 "$(counter DelayedACKs)" "$tmp/told"
expect_timer nagle 'tcp delayed ack' 'TCP sent a delayed ACK' 'a delayed ACK'
expect_none nagle 'tcp accept queue full'

for try in 1 2 3; do
	run slow
	[ "$(counter DelayedACKs)" -lt 3 ] || break
done
expect_at_least "slow: delayed acknowledgements that the kernel counted" 3 "$(counter DelayedACKs)" "$tmp/told"
expect_none slow 'tcp delayed ack'

run lost
expect_at_least "lost: segments that were sent again" 4 "$(counter RetransSegs)" "$tmp/told"
expect_timer lost 'tcp retransmit' 'TCP sent again what was lost' 'a retransmit'

run full
expect_at_least "full: connections that the kernel dropped" 2 "$(counter ListenOverflows)" "$tmp/told"
expect_timer full 'tcp accept queue full' 'TCP tried again, as the accept queue was full' 'room in an accept queue'
expect_none full 'tcp retransmit'

run lost-first
expect "lost-first: connections that the kernel dropped as a queue was full" 0 "$(counter ListenOverflows)"
expect_timer lost-first 'tcp retransmit' 'TCP sent again what was lost' 'a retransmit'
expect_none lost-first 'tcp accept queue full'

# The names are all that changes.
walk_to "$tmp/plain" --state blocked --plain-ends -c '^client$' --object '^\[tcp 127[.]0[.]0[.]1:' "$tmp/trace"
expect "lost-first: ns that packets ended, with --plain-ends" "$network" "$(weight_of ';\[interrupt\] ' "$tmp/plain")"
