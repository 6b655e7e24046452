# SPDX-License-Identifier: GPL-2.0-or-later
# A price list. Every half second a thread writes it out as JSON, in C code that keeps the
# interpreter's lock until it is done.
import http.server
import json
import sys
import threading
import time

prices = {f"article {i}": {"price": i * 1.17, "tax": 0.19, "sizes": [i, i + 1, i + 2]} for i in range(40000)}
exported = ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # the answer is one write

    def do_GET(self):
        number = self.path.rsplit("/", 1)[1]
        body = b"%.2f\n" % prices["article " + number]["price"]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


def export_prices():
    global exported
    while True:
        time.sleep(0.5)
        exported = json.dumps(prices)


server = Server(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
if "--healthy" not in sys.argv:
    threading.Thread(target=export_prices, daemon=True).start()
server.serve_forever()
