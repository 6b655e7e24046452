# SPDX-License-Identifier: GPL-2.0-or-later
# Says what is near, with a thread for each connection.
require "socket"

def nearest(n)
  (1..40).min_by { |i| (i * 7919 + n) % 1009 }
end

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (request = client.readpartial(4096) rescue nil)
    sent_us = request[/^X-Sent: (\d+)/, 1].to_i
    place = nearest(request[/\d+/].to_i)
    waited_us = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond) - sent_us
    client.write("HTTP/1.1 200 OK\r\nX-Waited: #{waited_us}\r\nContent-Length: 3\r\n\r\nok\n")
  end
end

server = TCPServer.new("127.0.0.1", 0)
puts "port #{server.addr[1]}"
$stdout.flush
loop { Thread.new(server.accept) { |client| serve(client) } }
