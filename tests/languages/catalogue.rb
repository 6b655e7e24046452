# SPDX-License-Identifier: GPL-2.0-or-later
# A catalogue that is built anew now and then, by a thread that has the lock which every request takes.
require "webrick"

class Catalogue < WEBrick::HTTPServlet::AbstractServlet
  LOCK = Mutex.new
  @prices = {}

  class << self
    def build_index
      built = {}
      x = 1
      600_000.times do
        x = (x * 1103515 + 12345) & 0x7fffffff
        built[x % 1000] = x
      end
      built
    end

    def reload_catalogue
      LOCK.synchronize { @prices = build_index }
    end

    def find_price(article)
      LOCK.synchronize { @prices.fetch(article, 0) }
    end
  end

  def do_GET(request, response)
    response.body = "#{Catalogue.find_price(request.path.split('/').last.to_i)}\n"
  end
end

silent = WEBrick::Log.new(File::NULL)
server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: 0, Logger: silent, AccessLog: [])
server.mount("/price", Catalogue)
Thread.new do
  Thread.current.name = "reload"
  loop do
    Catalogue.reload_catalogue
    sleep 0.4
  end
end
puts "port #{server.listeners.first.addr[1]}"
$stdout.flush
server.start
