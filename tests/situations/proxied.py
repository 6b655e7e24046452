# SPDX-License-Identifier: GPL-2.0-or-later
# A web server that sorts all prices for each answer.
import http.server
import json
import sys

count = 10 if "--healthy" in sys.argv else 20000
prices = [{"article": i * 7919 % 20011, "price": i} for i in range(count)]


class Handler(http.server.BaseHTTPRequestHandler):
    wbufsize = -1

    def do_GET(self):
        body = json.dumps(sorted(prices, key=lambda p: p["article"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
