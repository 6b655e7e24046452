// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that say themselves where they are, as paths.py: Paths.java [SEED]. Six threads call methods a to h in an order
// that each draws at random, through methods of the library, lambdas, constructors, exceptions, reflection, method handles
// and locks. For paths_judge.py:
//
// letters: <init> M, nap n, step s
// shape: (s(a|b|c|dM|e|f|g|h))*(s(n|[a-h]|dM)?)?
// outermost: loopOf
// calls: step
import java.io.File;
import java.io.FileOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

public class Paths {
	static final ThreadLocal<Boolean> inHaste = ThreadLocal.withInitial(() -> false);
	static Method reflected;
	static MethodHandle handle;
	static volatile int sink;

	interface Called {
		void g(String path, int at);
	}

	static class One implements Called {
		public synchronized void g(String path, int at) {
			step(path, at);
		}
	}

	static class Other implements Called {
		public void g(String path, int at) {
			step(path, at);
			sink++;
		}
	}

	static class Maker {
		Maker(String path, int at) {
			step(path, at);
		}
	}

	static void nap() {
		if (inHaste.get())
			return;
		try {
			Object own = new Object();

			switch ((int) (Math.random() * 3)) {
			case 0:
				Thread.sleep((long) (Math.random() * 4));
				break;
			case 1:
				LockSupport.parkNanos((long) (Math.random() * 4000000));
				break;
			default:
				synchronized (own) {
					own.wait(1 + (long) (Math.random() * 3));
				}
			}
		} catch (InterruptedException e) {
			sink++;
		}
	}

	static void step(String path, int at) {
		if (at == path.length()) {
			nap();
			return;
		}
		switch (path.charAt(at++)) {
		case 'a': a(path, at); break;
		case 'b': b(path, at); break;
		case 'c': c(path, at); break;
		case 'd': d(path, at); break;
		case 'e': e(path, at); break;
		case 'f': f(path, at); break;
		case 'g': (at % 3 != 0 ? new One() : new Other()).g(path, at); break;
		default: h(path, at);
		}
	}

	static void a(String path, int at) {
		step(path, at);
	}

	static void b(String path, int at) {
		List.of(0).forEach(x -> step(path, at));
	}

	static void c(String path, int at) {
		List<Integer> numbers = new ArrayList<>(List.of(1, 0));
		int[] n = { 0 };

		numbers.sort((x, y) -> {
			if (n[0]++ == 0)
				step(path, at);
			return 0;
		});
	}

	static void d(String path, int at) {
		new Maker(path, at);
	}

	public static void e(String path, int at) {
		try {
			reflected.invoke(null, path, at);
		} catch (ReflectiveOperationException x) {
			throw new RuntimeException(x);
		}
	}

	public static void reached(String path, int at) {
		step(path, at);
	}

	static void f(String path, int at) {
		try {
			throw new IllegalStateException("on the way");
		} catch (IllegalStateException x) {
			step(path, at);
		}
	}

	static void h(String path, int at) {
		try {
			handle.invokeExact(path, at);
		} catch (Throwable x) {
			throw new RuntimeException(x);
		}
	}

	static String drawPath(Random random) {
		StringBuilder path = new StringBuilder();

		for (int n = 1 + random.nextInt(13); n > 0; n--)
			path.append("abcdefgh".charAt(random.nextInt(8)));
		return path.toString();
	}

	static void loopOf(Random random) throws Exception {
		String self = new File("/proc/thread-self").getCanonicalPath();

		try (FileOutputStream name = new FileOutputStream(self + "/comm")) {
			for (int round = 0;; round++) {
				// What is called often is compiled, and compiled once more.
				inHaste.set(true);
				for (int n = round < 64 ? 30 : random.nextInt(8); n > 0; n--)
					step(drawPath(random), 0);
				inHaste.set(false);
				String path = drawPath(random);
				name.write(("P:" + path).getBytes());
				step(path, 0);
				name.write("between".getBytes());
			}
		}
	}

	public static void main(String[] args) throws Exception {
		int seed = args.length > 0 ? Integer.parseInt(args[0]) : 1;

		reflected = Paths.class.getMethod("reached", String.class, int.class);
		handle = MethodHandles.lookup().findStatic(
			Paths.class, "reached", MethodType.methodType(void.class, String.class, int.class));
		for (int i = 0; i < 6; i++) {
			Random random = new Random(seed * 6L + i);

			new Thread(() -> {
				try {
					loopOf(random);
				} catch (Exception x) {
					throw new RuntimeException(x);
				}
			}).start();
		}
		System.out.println("ready");
	}
}
