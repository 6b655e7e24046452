#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""server.py PORT: answers "ok"; GET /report/* after 30 to 60 ms. Ended by SIGTERM it prints "COUNT METHOD PATH"."""
import collections
import os
import random
import re
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

count, lock = collections.Counter(), threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one write: the second one would wait for the client's acknowledgement

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = re.sub("[0-9]+", "*", self.path.split("?")[0])
        with lock:
            count[self.command + " " + path] += 1
        if path.startswith("/report"):
            time.sleep(random.uniform(0.03, 0.06))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_POST = do_PUT = do_GET


def end(*_):
    for what, n in count.items():
        print(n, what, flush=True)
    os._exit(0)


signal.signal(signal.SIGTERM, end)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
