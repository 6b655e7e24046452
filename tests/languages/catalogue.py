# SPDX-License-Identifier: GPL-2.0-or-later
# A catalogue that is built anew now and then, under the lock that every request takes.
import http.server
import threading
import time

lock = threading.Lock()
prices = {}


def build_index():
    built, x = {}, 1
    for _ in range(600000):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
        built[x % 1000] = x
    return built


def reload_catalogue():
    global prices
    with lock:
        prices = build_index()


def reload_again_and_again():
    while True:
        reload_catalogue()
        time.sleep(0.4)


def find_price(article):
    with lock:
        return prices.get(article, 0)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answer = b"%d\n" % find_price(int(self.path.rsplit("/", 1)[1]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    disable_nagle_algorithm = True


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=reload_again_and_again, daemon=True).start()
print("port", server.server_address[1], flush=True)
server.serve_forever()
