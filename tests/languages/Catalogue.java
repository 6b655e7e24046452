// SPDX-License-Identifier: GPL-2.0-or-later
// A catalogue that is built anew now and then, under the monitor that every request enters.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;

public class Catalogue {
	private Map<Integer, Integer> prices = new HashMap<>();

	private Map<Integer, Integer> buildIndex() {
		Map<Integer, Integer> built = new HashMap<>();
		for (int i = 0, x = 1; i < 4_000_000; i++) {
			x = x * 1103515245 + 12345 & 0x7fffffff;
			built.put(x % 1000, x);
		}
		return built;
	}

	private synchronized void reload() {
		prices = buildIndex();
	}

	private void reloadAgainAndAgain() {
		try {
			for (;;) {
				reload();
				Thread.sleep(400);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	private synchronized int findPrice(int article) {
		return prices.getOrDefault(article, 0);
	}

	private void answer(HttpExchange exchange) throws IOException {
		String path = exchange.getRequestURI().getPath();
		byte[] answer = (findPrice(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1))) + "\n")
			.getBytes();
		exchange.sendResponseHeaders(200, answer.length);
		exchange.getResponseBody().write(answer);
		exchange.close();
	}

	public static void main(String[] arguments) throws Exception {
		Catalogue catalogue = new Catalogue();
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 64);
		server.createContext("/price", catalogue::answer);
		server.setExecutor(Executors.newFixedThreadPool(8, task -> new Thread(task, "answers")));
		server.start();
		new Thread(catalogue::reloadAgainAndAgain, "reload").start();
		System.out.println("port " + server.getAddress().getPort());
	}
}
