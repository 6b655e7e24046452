#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who is at the other end: real servers and their clients on this machine wait for each other by connect and accept,
# UDP as a resolver does, TLS, unix sockets and pipes. Each thread's waits name the right socket and process; of
# servers that wait for many at a time, the one that was ready.
# Beside another: its bounds are for waits of its own threads, and hold on a busy machine.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in python3 openssl redis-server nginx curl; do
	command -v $program >/dev/null || skip "$program is not installed"
done
port=$((20000 + $$ % 10000))

# A server answers after 100 ms. $1: tcp, udp, unix or epoll; $2: port or path.
cat >"$tmp/server.py" <<'END_OF_PYTHON'
import select, socket, sys, time
kind, at = sys.argv[1:]
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
s.bind(at if kind == "unix" else ("127.0.0.1", int(at)))
if kind == "udp":
    while True:
        data, peer = s.recvfrom(512)
        time.sleep(0.1)
        s.sendto(data, peer)
s.listen(5)
if kind == "epoll":
    poll, clients = select.epoll(), {}
    poll.register(s, select.EPOLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == s.fileno():
                c = s.accept()[0]
                clients[c.fileno()] = c
                poll.register(c, select.EPOLLIN)
            elif (data := clients[fd].recv(512)):
                time.sleep(0.1)
                clients[fd].send(data)
            else:
                poll.unregister(fd)
                del clients[fd]
while True:
    c = s.accept()[0]
    while (data := c.recv(512)):
        time.sleep(0.1)
        c.send(data)
END_OF_PYTHON
# A client asks ten times, after 50 ms each.
cat >"$tmp/client.py" <<'END_OF_PYTHON'
import socket, sys, time
kind, at = sys.argv[1:]
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
s.connect(at if kind == "unix" else ("127.0.0.1", int(at)))
if kind == "udp":
    s.settimeout(5) # as resolvers do: poll() of one descriptor
for i in range(10):
    time.sleep(0.05)
    s.send(b"hello")
    s.recv(512)
END_OF_PYTHON

cat >"$tmp/nginx.conf" <<END_OF_CONF
daemon off;
worker_processes 1;
pid $tmp/nginx.pid;
error_log $tmp/nginx.log;
events { worker_connections 16; }
http {
	access_log off;
	client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
	uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
	server { listen 127.0.0.1:$((port + 5)); root $tmp/www; limit_rate 40k; }
}
END_OF_CONF
mkdir "$tmp/www" "$tmp/nginx"
chmod 755 "$tmp" "$tmp/www"
head -c 60000 /dev/zero >"$tmp/www/slow"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key" -out "$tmp/cert" -days 1 -subj /CN=localhost 2>"$tmp/err" ||
	fail "openssl req: $(cat "$tmp/err")"

# All of it, as one command. It tells "NAME PID" of each process.
cat >"$tmp/all" <<END_OF_SCRIPT
cd $tmp
servers=
server() { echo "\$1 \$2"; servers="\$servers \$2"; }
python3 server.py tcp $port & server tcp-server \$!
python3 server.py epoll $((port + 1)) & server epoll-server \$!
python3 server.py udp $((port + 2)) & server udp-server \$!
python3 server.py unix $tmp/socket & server unix-server \$!
redis-server --port $((port + 3)) --save '' --bind 127.0.0.1 >redis.log & server redis-server \$!
openssl s_server -quiet -accept 127.0.0.1:$((port + 4)) -cert cert -key key -rev >tls.log 2>&1 & server tls-server \$!
nginx -p $tmp -c $tmp/nginx.conf 2>nginx.log & server nginx-master \$!
sleep 1
echo "nginx-server \$(cat /proc/\$!/task/\$!/children)"
python3 client.py tcp $port & echo "tcp-client \$!"; c1=\$!
python3 client.py epoll $((port + 1)) & echo "epoll-client \$!"; c2=\$!
python3 client.py udp $((port + 2)) & echo "udp-client \$!"; c3=\$!
python3 client.py unix $tmp/socket & echo "unix-client \$!"; c4=\$!
(echo ping; sleep 0.2; echo blpop list 5) | redis-cli -p $((port + 3)) >popped & echo "redis-waiter \$!"; c5=\$!
(until grep -q CN tls.answers; do sleep 0.1; done; for i in 1 2 3 4 5; do echo hello; sleep 0.2; done) |
	openssl s_client -quiet -no_ign_eof -connect 127.0.0.1:$((port + 4)) >tls.answers 2>&1 & echo "tls-client \$!"; c6=\$!
curl -s -o fetched http://127.0.0.1:$((port + 5))/slow & echo "curl \$!"; c7=\$!
sleep 1
redis-cli -p $((port + 3)) lpush list hello >pushed & echo "redis-pusher \$!"
wait \$c1 \$c2 \$c3 \$c4 \$c5 \$c6 \$c7 \$!
(sleep 0.6; echo) | cat >piped & echo "pipe-reader \$!"
wait \$!
kill \$servers
exit 0
END_OF_SCRIPT
: >"$tmp/tls.answers"
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- sh "$tmp/all" >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- all" 0 $?
expect_whole "$tmp/trace"
timeout 300 "$walk" -q -f csv --state blocked --not-woken "$tmp/trace" >"$tmp/csv" 2>"$tmp/err"
expect_exit "chainwalk -f csv" 0 $?
case $(uname -r | awk -F '[.-]' '{ print ($1 > 6 || ($1 == 6 && $2 >= 3)) }') in
1) sets=yes ;;
*) sets='' ;;
esac

python3 - "$tmp/csv" "$tmp/told" "$port" "$tmp/socket" "$sets" >"$tmp/bad" 2>&1 <<'END' || fail "$(cat "$tmp/bad")"
import csv, re, sys
pids = dict(line.split()[:2] for line in open(sys.argv[2]) if len(line.split()) == 2)
port, path, sets = int(sys.argv[3]), re.escape(sys.argv[4]), sys.argv[5]
of, wrong = {}, []
for row in csv.DictReader(open(sys.argv[1], newline="")):
    key = row["pid"], row["object"]
    of[key] = of.get(key, 0) + int(row["blocked_ns"])
def tcp(n, peer):
    return r"tcp 127\.0\.0\.1:%s [^ ]+/%s$" % (n, pids[peer])
def expect(who, pattern, least_ms):
    ns = sum(v for k, v in of.items() if k[0] == pids[who] and re.match(pattern, k[1]))
    if ns < least_ms * 1000000:
        most = sorted(((v, k[1]) for k, v in of.items() if k[0] == pids[who]), reverse=True)[:6]
        wrong.append("%s: expected %d ms for %s, got %d ns of\n    %s" % (who, least_ms, pattern, ns,
            "\n    ".join("%12d %s" % m for m in most)))
# Ten answers take 100 ms each, and ten questions 50 ms each. How long a server that has just started waits for its
# first client depends on how busy the machine is.
expect("tcp-client", tcp(port, "tcp-server"), 800)
expect("tcp-server", tcp(r"\d+", "tcp-client"), 300)
expect("tcp-server", r"tcp :%d$" % port, 1)
expect("epoll-client", tcp(port + 1, "epoll-server"), 800)
expect("epoll-server", r"epoll \d+:\d+, ready: " + tcp(r"\d+", "epoll-client"), 300)
expect("epoll-server", r"epoll \d+:\d+, ready: tcp :%d$" % (port + 1), 1)
expect("udp-client", r"poll udp 127\.0\.0\.1:%d [^ ]+/%s$" % (port + 2, pids["udp-server"]), 800)
expect("udp-server", r"udp :%d$" % (port + 2), 800)
expect("unix-client", r"unix %s [^ ]+/%s$" % (path, pids["unix-server"]), 800)
expect("unix-server", r"unix %s [^ ]+/%s$" % (path, pids["unix-client"]), 300)
expect("redis-waiter", tcp(port + 3, "redis-server"), 300)
expect("redis-server", r"epoll \d+:\d+, ready: tcp :%d$" % (port + 3), 1)
expect("nginx-server", r"epoll \d+:\d+, ready: tcp :%d$" % (port + 5), 1)
expect("pipe-reader", r"pipe \d+ [^ ]+/\d+", 400)
if sets:
    # nginx may have read the question without waiting for it: then its end is not known.
    expect("curl", r"(poll of \d+, ready: |poll )tcp 127\.0\.0\.1:%d( [^ ]+/%s)?$" % (port + 5, pids["nginx-server"]), 300)
    expect("tls-server", r"select of \d+, ready: tcp :%d$|tcp :%d$" % (port + 4, port + 4), 1)
    expect("tls-server", r"(select of \d+, ready: |)" + tcp(r"\d+", "tls-client"), 300)
print("\n".join(wrong))
sys.exit(bool(wrong))
END

# A chain goes on to the sender: its process answered, and ran or slept meanwhile.
"$walk" -q --unit=ns -p "$(awk '$1 == "tcp-client" { print $2 }' "$tmp/told")" --object "^\[tcp 127.0.0.1:$port " \
	--state blocked "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk --object" 0 $?
all=$(weight_of '' "$tmp/folded")
expect_at_least "ns that tcp-client waited for its server" 500000000 "$all" "$tmp/folded"
expect_at_least "ns for the server, which slept: of $all" $((all / 2)) \
	"$(weight_of ';python3[^;]*;--;.*hrtimer' "$tmp/folded")" "$tmp/folded"
