// SPDX-License-Identifier: GPL-2.0-or-later
// Takes orders. Each is noted in a log, under the log's monitor; whoever fills the log compresses
// it there and then.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;

public class Orders {
	static class OrderLog {
		private final int size;
		private final byte[] text;
		private final byte[] compressed = new byte[64 << 10];
		private int orders;

		OrderLog(int megabytes) {
			size = megabytes << 20;
			text = new byte[Math.max(size, 64 << 10)];
			Random random = new Random(1);
			for (int i = 0; i < text.length; i++)
				text[i] = (byte) ('a' + random.nextInt(20));
		}

		synchronized int note(String order) {
			byte[] bytes = order.getBytes();
			System.arraycopy(bytes, 0, text, orders % 500 * 64, Math.min(bytes.length, 64));
			if (++orders % 500 == 0)
				compressLog();
			return orders;
		}

		private void compressLog() {
			Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION);
			deflater.setInput(text, 0, size);
			deflater.finish();
			while (!deflater.finished())
				deflater.deflate(compressed);
			deflater.end();
		}
	}

	public static void main(String[] arguments) throws Exception {
		OrderLog log = new OrderLog(Integer.parseInt(arguments[0]));
		AtomicInteger threads = new AtomicInteger();
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 64);
		server.createContext("/order", exchange -> {
			byte[] answer = (log.note(exchange.getRequestURI().getPath()) + "\n").getBytes();
			exchange.sendResponseHeaders(200, answer.length);
			exchange.getResponseBody().write(answer);
			exchange.close();
		});
		server.setExecutor(Executors.newFixedThreadPool(
			16, task -> new Thread(task, "order-" + threads.incrementAndGet())));
		server.start();
		System.out.println("port " + server.getAddress().getPort());
	}
}
