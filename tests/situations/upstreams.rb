# SPDX-License-Identifier: GPL-2.0-or-later
# Prices, from a store that is asked by two connections (argument: its port), which exports use, too: they take long.
# With --healthy exports have a connection of their own.
require "socket"

def connect
  store = TCPSocket.new("127.0.0.1", Integer(ARGV[0]))
  store.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  store
end

$store = Queue.new
2.times { $store << connect }
$exports = $store
if ARGV[1] == "--healthy"
  $exports = Queue.new
  2.times { $exports << connect }
end

def ask(pool, ms)
  begin_us = Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
  store = pool.pop
  waited_us = Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) - begin_us
  store.write("#{ms}\n")
  store.readpartial(100)
  pool << store
  waited_us
end

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (request = client.readpartial(4096) rescue nil)
    waited_us = request.start_with?("GET /export") ? ask($exports, 120) : ask($store, 0)
    client.write("HTTP/1.1 200 OK\r\nX-Waited: #{waited_us}\r\nContent-Length: 3\r\n\r\nok\n")
  end
end

server = TCPServer.new("127.0.0.1", 0)
puts "port #{server.addr[1]}"
$stdout.flush
loop { Thread.new(server.accept) { |client| serve(client) } }
