// SPDX-License-Identifier: GPL-2.0-or-later
// A program whose code changes all the time: Changing.java SECONDS. Four threads make classes anew from one that is there,
// call their methods until these are compiled, sleeping now and then in them, and drop them; what was dropped is unloaded
// once a second. Then it says how many methods were compiled and how many classes unloaded meanwhile.
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;

public class Changing {
	static volatile int sink;
	static volatile boolean isOver;

	public static class Template {
		static int last(int n) {
			if (n == 0)
				LockSupport.parkNanos(100000);
			return n * 7 + sink;
		}

		static int middle(int n) {
			return last(n) + last(n + 1) % 3;
		}

		public static void work(int round) {
			for (int n = 0; n < 300; n++)
				sink += middle(n == 0 && round % 50 == 0 ? 0 : n + 1);
		}
	}

	static void run(byte[] template) {
		try {
			while (!isOver) {
				Class<?> made = MethodHandles.lookup().defineHiddenClass(template, true).lookupClass();
				Method work = made.getMethod("work", int.class);

				for (int round = 0; round < 200 && !isOver; round++)
					work.invoke(null, round);
			}
		} catch (ReflectiveOperationException x) {
			throw new RuntimeException(x);
		}
	}

	static long compiled() throws Exception {
		return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
	}

	public static void main(String[] arguments) throws Exception {
		int seconds = Integer.parseInt(arguments[0]);
		byte[] template;

		try (InputStream in = Changing.class.getResourceAsStream("Changing$Template.class")) {
			template = in.readAllBytes();
		}
		Thread[] threads = new Thread[4];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> run(template));
			threads[i].start();
		}
		System.out.println("ready");
		long compiled = compiled(), unloaded = ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount();
		for (int i = 0; i < seconds; i++) {
			Thread.sleep(1000);
			System.gc();
		}
		isOver = true;
		for (Thread thread : threads)
			thread.join();
		System.out.printf("compiled %d ms, unloaded %d classes%n", compiled() - compiled,
			ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount() - unloaded);
	}
}
