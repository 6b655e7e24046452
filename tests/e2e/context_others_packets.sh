#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that sends to itself over loopback receives what is queued on its CPU, also packets of others: those that a
# timer of TCP has sent. It is not the cause of what these wake. A client whose requests come in two pieces waits for
# the server's delayed acknowledgement (Nagle's algorithm), beside somebody who only talks to himself on that CPU.
. "$(dirname "$0")/lib.sh"
needs_usual "which socket a waker uses"
for program in python3 taskset; do
	command -v $program >/dev/null || skip "$program is not installed"
done

cat >"$tmp/nagle.py" <<'END_OF_PYTHON'
import os, signal, socket, sys, time
def named(name):
    open("/proc/self/comm", "w").write(name)
def beside(name, what):
    child = os.fork()
    if not child:
        named(name)
        what()
        os._exit(0)
    return child
listener = socket.create_server(("127.0.0.1", 0))
address = listener.getsockname()
def chat():
    own = socket.create_server(("127.0.0.1", 0))
    a = socket.create_connection(own.getsockname())
    b = own.accept()[0]
    while True:
        a.send(b"x" * 64)
        b.recv(64)
def serve():
    s = listener.accept()[0]
    while True:
        got = b""
        while len(got) < 8:
            piece = s.recv(8 - len(got))
            if not piece:
                return
            got += piece
        s.send(b"answer")
chatty, server = beside("chatty", chat), beside("orderserver", serve)
named("orderclient")
s = socket.create_connection(address)
begin = time.monotonic()
for i in range(40):
    s.send(b"head")
    s.send(b"body")
    got = 0
    while got < 6:
        got += len(s.recv(6 - got))
print("asked", int((time.monotonic() - begin) * 1e9))
s.close()
os.waitpid(server, 0)
os.kill(chatty, signal.SIGKILL)
END_OF_PYTHON

for try in 1 2 3; do
	timeout 300 "$cap" -F 0 -o "$tmp/trace" -- taskset -c 0 python3 "$tmp/nagle.py" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- python3 nagle.py" 0 $?
	"$walk" -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	! grep -q ' orderserver.* not-sent\| not-sent.*orderserver' "$tmp/events" || break
	echo "note: try $try: chatty never received for the server"
done
asked=$(awk '$1 == "asked" { print $2 }' "$tmp/told")
walk_to "$tmp/server" -K --state blocked -c '^orderserver$' --object '^\[tcp 127[.]0[.]0[.]1:' "$tmp/trace"
all=$(weight_of . "$tmp/server")
expect_at_least "waits of the server for its client, of $asked ns by the client's clock" $((asked / 2)) "$all" "$tmp/server"
expect "waits of the server for chatty's work" "" "$(grep -v ';\[runnable\]' "$tmp/server" | grep ';chatty;')"
expect_at_least "that packets ended which nobody had just sent, of $all ns" $((all * 8 / 10)) \
	"$(weight_of ';\[network\];(\[tcp delayed ack\];)?\[tcp\] ' "$tmp/server")" "$tmp/server"
# Who sends himself is followed: the client waits for the server, and that for the network.
walk_to "$tmp/client" -K --state blocked -c '^orderclient$' --object '^\[tcp 127[.]0[.]0[.]1:' "$tmp/trace"
all=$(weight_of . "$tmp/client")
expect_at_least "waits of the client for the server, of $all ns" $((all * 9 / 10)) \
	"$(weight_of ';orderserver;' "$tmp/client")" "$tmp/client"
