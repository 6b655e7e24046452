# SPDX-License-Identifier: GPL-2.0-or-later
# Takes a request, and never answers it, but waits for the next one: who is killed in a wait for somebody is the client.
import socket
import sys

unanswered = []
s = socket.create_server(("127.0.0.1", 0))
print("port", s.getsockname()[1], flush=True)
while True:
    connection, _ = s.accept()
    connection.recv(1000)
    if "--healthy" in sys.argv:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.close()
    else:
        unanswered.append(connection)
