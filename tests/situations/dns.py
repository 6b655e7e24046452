# SPDX-License-Identifier: GPL-2.0-or-later
# Two name servers, of which one never answers, and the web server whose name they know.
import http.server
import select
import socket
import sys
import threading


def serve_names(address, silent):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, 53))
    while True:
        # Looks up now and then, as socketserver does: the wait in which it is killed in the end is short.
        if not select.select([s], [], [], 0.2)[0]:
            continue
        question, sender = s.recvfrom(512)
        if silent:
            continue
        name = question[12:question.index(0, 12) + 5]
        is_a = name[-4:-2] == b"\0\1"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if is_a else b""
        s.sendto(question[:2] + b"\x85\x80\0\1\0" + bytes([bool(answer)]) + b"\0\0\0\0" + name + answer, sender)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


threading.Thread(target=serve_names, args=("127.0.0.153", "--healthy" not in sys.argv), daemon=True).start()
threading.Thread(target=serve_names, args=("127.0.0.154", False), daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
