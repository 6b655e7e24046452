// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads whose compiled code is given up while they are in it, again and again: GivenUp.java. What middle calls is
// compiled into it, and it into outer; then it becomes another method, while they sleep in what that calls: nap, which is
// not to be compiled into it (-XX:CompileCommand=dontinline,GivenUp.nap).
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.concurrent.locks.LockSupport;

public class GivenUp {
	static final MutableCallSite changing = new MutableCallSite(MethodType.methodType(void.class, int.class));
	static final MethodHandle handle = changing.dynamicInvoker();
	static volatile int sink;

	static void nap(int times) {
		for (int n = 0; n < times; n++)
			LockSupport.parkNanos(30000000);
	}

	public static void first(int naps) {
		nap(naps); // called by inner
		sink++;
	}

	public static void second(int naps) {
		nap(naps); // called by inner
		sink += 2;
	}

	static void middle(int naps) {
		try {
			handle.invokeExact(naps); // called by middle
		} catch (Throwable x) {
			throw new RuntimeException(x);
		}
	}

	static void outer(int naps) {
		middle(naps); // called by outer
		sink++;
	}

	static void loop() {
		for (;;) {
			// What is called often is compiled.
			for (int i = 0; i < 20000; i++)
				outer(0);
			for (int i = 0; i < 3; i++)
				outer(10);
		}
	}

	public static void main(String[] args) throws Exception {
		String[] names = { "first", "second" };

		for (int round = 0;; round++) {
			changing.setTarget(MethodHandles.lookup().findStatic(GivenUp.class, names[round % 2], changing.type()));
			for (int i = 0; round == 0 && i < 3; i++)
				new Thread(GivenUp::loop, "given up").start();
			Thread.sleep(700);
		}
	}
}
