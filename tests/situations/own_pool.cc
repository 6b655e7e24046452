// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages, made by a pool of three threads. A page has parts, which are given to the same pool: where
 * all threads wait for parts nobody makes any, until they give up and make them themselves. With
 * --healthy parts are made where they are needed.
 */
#include <arpa/inet.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using std::chrono::steady_clock;

class Pool {
	std::mutex lock;
	std::condition_variable more;
	std::deque<std::function<void()>> tasks;
	void work()
	{
		prctl(PR_SET_NAME, "painter");
		for (;;) {
			std::unique_lock<std::mutex> held(lock);
			more.wait(held, [this] { return !tasks.empty(); });
			auto task = std::move(tasks.front());
			tasks.pop_front();
			held.unlock();
			task();
		}
	}

public:
	Pool()
	{
		for (int i = 0; i < 3; i++)
			std::thread([this] { work(); }).detach();
	}
	template <typename T> std::future<T> add(std::function<T()> make)
	{
		auto task = std::make_shared<std::packaged_task<T()>>(std::move(make));
		{
			std::lock_guard<std::mutex> held(lock);
			tasks.emplace_back([task] { (*task)(); });
		}
		more.notify_one();
		return task->get_future();
	}
};

static Pool pool;
static bool healthy;

__attribute__((noinline)) static int paint_part(int n)
{
	for (auto end = steady_clock::now() + std::chrono::microseconds(600); steady_clock::now() < end;)
		n++;
	return n;
}

/* How long the page waited for its part, in us. */
__attribute__((noinline)) static long paint_page()
{
	auto begin = steady_clock::now();

	if (healthy) {
		paint_part(1);
		return 0;
	}
	auto part = pool.add<int>([] { return paint_part(1); });
	if (part.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
		paint_part(1);
	return std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin).count();
}

static void serve(int fd)
{
	char request[2048], answer[256];

	prctl(PR_SET_NAME, "pages");
	while (read(fd, request, sizeof(request)) > 0) {
		auto begin = steady_clock::now();

		pool.add<long>(paint_page).get();
		auto waited = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin);
		int n = snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nX-Waited: %lld\r\nContent-Length: 3\r\n\r\nok\n",
				 static_cast<long long>(waited.count()));
		if (write(fd, answer, static_cast<size_t>(n)) != n)
			break;
	}
	close(fd);
}

int main(int argc, char **)
{
	sockaddr_in address = {};
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;

	healthy = argc > 1;
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listening, reinterpret_cast<sockaddr *>(&address), length) || listen(listening, 64) ||
	    getsockname(listening, reinterpret_cast<sockaddr *>(&address), &length))
		return 1;
	printf("port %u\n", ntohs(address.sin_port));
	fflush(stdout);
	while ((fd = accept(listening, nullptr, nullptr)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		std::thread(serve, fd).detach();
	}
	return 1;
}
