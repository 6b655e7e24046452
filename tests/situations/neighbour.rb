# SPDX-License-Identifier: GPL-2.0-or-later
# Says what is near, with a process for each connection: none waits for a lock of the interpreter.
require "socket"

def nearest(n)
  (1..40).min_by { |i| (i * 7919 + n) % 1009 }
end

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  had_run_us = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond)
  while (request = client.readpartial(4096) rescue nil)
    sent_us = request[/^X-Sent: (\d+)/, 1].to_i
    place = nearest(request[/\d+/].to_i).to_s
    took_us = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond) - sent_us
    ran_us = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond) - had_run_us
    client.write("HTTP/1.1 200 OK\r\nX-Took: #{took_us}\r\nX-Waited: #{[took_us - ran_us, 0].max}\r\n" \
                 "Content-Length: #{place.size}\r\n\r\n#{place}")
    had_run_us = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :microsecond)
  end
end

server = TCPServer.new("127.0.0.1", 0)
puts "port #{server.addr[1]}"
$stdout.flush
trap("CHLD", "IGNORE")
loop do
  client = server.accept
  fork { serve(client) }
  client.close
end
