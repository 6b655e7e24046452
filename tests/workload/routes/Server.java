// SPDX-License-Identifier: GPL-2.0-or-later
// Server PORT: as server.py
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

public class Server {
	public static void main(String[] args) throws Exception {
		var count = new ConcurrentHashMap<String, Integer>();
		var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 128);
		server.setExecutor(Executors.newFixedThreadPool(8));
		server.createContext("/", exchange -> {
			var path = exchange.getRequestURI().getPath().replaceAll("[0-9]+", "*");
			exchange.getRequestBody().readAllBytes();
			count.merge(exchange.getRequestMethod() + " " + path, 1, Integer::sum);
			try {
				if (path.startsWith("/report"))
					Thread.sleep(30 + (long)(30 * Math.random()));
			} catch (InterruptedException e) {
				return;
			}
			exchange.sendResponseHeaders(200, 2);
			exchange.getResponseBody().write("ok".getBytes());
			exchange.close();
		});
		server.start();
		Runtime.getRuntime().addShutdownHook(
			new Thread(() -> count.forEach((what, n) -> System.out.println(n + " " + what))));
	}
}
