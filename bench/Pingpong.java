// SPDX-License-Identifier: GPL-2.0-or-later
// As pingpong.py: two threads hand a turn to and fro, in methods that call themselves so deep: Pingpong.java DEPTH ROUNDS
import java.util.concurrent.Semaphore;

public class Pingpong {
	static int descend(int levels, int rounds, Semaphore mine, Semaphore theirs) {
		if (levels > 0)
			return descend(levels - 1, rounds, mine, theirs) + 1;
		for (int i = 0; i < rounds; i++) {
			mine.acquireUninterruptibly();
			theirs.release();
		}
		return 0;
	}

	public static void main(String[] arguments) throws Exception {
		int depth = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
		Semaphore here = new Semaphore(1), there = new Semaphore(0);
		Thread other = new Thread(() -> descend(depth, rounds, there, here));

		other.start();
		descend(depth, rounds, here, there);
		other.join();
	}
}
