// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps where C++ code is while an exception is on its way: throws CASE, as shapes.c.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <unistd.h>

static volatile int never;

__attribute__((noipa)) static void nap()
{
	timespec t = { 0, 100000000 };

	std::printf("ready %d\n", static_cast<int>(getpid()));
	std::fflush(stdout);
	for (;;)
		nanosleep(&t, nullptr);
}

struct naps_when_destroyed {
	~naps_when_destroyed() { nap(); }
};

__attribute__((noipa)) static void throws()
{
	if (!never)
		throw std::runtime_error("thrown");
}

__attribute__((noipa)) static void is_thrown_through()
{
	naps_when_destroyed object;

	throws();
	never = 1;
}

// In a destructor that the unwinder calls: below it are the unwinder's frames, and a landing pad.
__attribute__((noipa)) static void while_thrown()
{
	try {
		is_thrown_through();
	} catch (const std::exception &) {
		never = 2;
	}
}

__attribute__((noipa)) static void when_caught()
{
	try {
		throws();
	} catch (const std::exception &) {
		nap();
	}
}

struct base {
	virtual void runs() = 0;
	virtual ~base() = default;
};

struct derived : base {
	__attribute__((noipa)) void runs() override
	{
		auto lambda = [this](int n) { if (n) nap(); };

		lambda(1 + never);
	}
};

__attribute__((noipa)) static void virtual_call()
{
	derived object;
	base &b = object;

	b.runs();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} cases[] = { { "while_thrown", while_thrown }, { "when_caught", when_caught },
		      { "virtual_call", virtual_call } };

	for (const auto &c : cases)
		if (argc < 2)
			std::puts(c.name);
		else if (!std::strcmp(argv[1], c.name))
			c.run();
	return argc >= 2;
}
