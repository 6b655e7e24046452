# SPDX-License-Identifier: GPL-2.0-or-later
# A web server whose handler pauses before each answer.
import http.server
import sys
import time

pause = 0 if "--healthy" in sys.argv else 0.08


def look_up_price(path):
    time.sleep(pause)
    return b"price of %s\n" % path.encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # the answer is one write

    def do_GET(self):
        body = look_up_price(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
