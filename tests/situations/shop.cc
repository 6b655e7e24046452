// SPDX-License-Identifier: GPL-2.0-or-later
// shop PORT_OF_REDIS [--healthy]: a shop of ten routes, a thread for each visitor, with redis
// behind it. Slow are: whoever asks redis while /search has it look through all keys; /orders, as a
// job keeps their lock for 30 ms; and one price in fifty, for which much is computed. /report
// takes 20 ms each time, which is usual for it.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using std::chrono::milliseconds;

static int redis_port;
static bool healthy;
static std::mutex orders;

// What is read from a socket, line by line.
struct Reader {
	int fd;
	std::string got;

	explicit Reader(int socket) : fd(socket)
	{
	}
	bool more()
	{
		char bytes[4096];
		ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

		if (n > 0)
			got.append(bytes, static_cast<size_t>(n));
		return n > 0;
	}
	bool until(const std::string &end, std::string *text)
	{
		size_t at;

		while ((at = got.find(end)) == std::string::npos)
			if (!more())
				return false;
		*text = got.substr(0, at);
		got.erase(0, at + end.size());
		return true;
	}
};

static int local_socket(int port, int (*use)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in at = {};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_family = AF_INET;
	at.sin_port = htons(static_cast<uint16_t>(port));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || use(fd, reinterpret_cast<struct sockaddr *>(&at), sizeof(at))) {
		perror("shop");
		exit(1);
	}
	return fd;
}

// An answer of redis: a line, or a text, or an array of these.
static void skip_answer(Reader &r)
{
	std::string line, text;

	if (!r.until("\r\n", &line))
		exit(1);
	int n = atoi(line.c_str() + 1);
	if (line[0] == '$' && n >= 0)
		r.until("\r\n", &text);
	for (int i = 0; line[0] == '*' && i < n; i++)
		skip_answer(r);
}

static std::string command(const std::vector<std::string> &words)
{
	std::string text = "*" + std::to_string(words.size()) + "\r\n";

	for (const std::string &w : words)
		text += "$" + std::to_string(w.size()) + "\r\n" + w + "\r\n";
	return text;
}

static void ask_redis(Reader &r, const std::vector<std::string> &words)
{
	std::string text = command(words);

	if (send(r.fd, text.data(), text.size(), 0) < 0)
		exit(1);
	skip_answer(r);
}

// How long redis looks through all keys, at best.
static std::chrono::nanoseconds look_through(Reader &r)
{
	auto best = std::chrono::nanoseconds::max();

	for (int i = 0; i < 3; i++) {
		auto begin = std::chrono::steady_clock::now();

		ask_redis(r, { "KEYS", "*nothing*" });
		best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - begin);
	}
	return best;
}

// As many keys as take redis a while, whatever the machine.
static void fill(milliseconds time, int most)
{
	Reader r(local_socket(redis_port, connect));

	for (int i = 0; i < most && (i % 5000 || look_through(r) < time); i++)
		ask_redis(r, { "SET", "stock:" + std::to_string(i), "1" });
	close(r.fd);
}

__attribute__((noinline)) static void price_bundle(milliseconds time)
{
	auto end = std::chrono::steady_clock::now() + time;

	while (std::chrono::steady_clock::now() < end)
		;
}

__attribute__((noinline)) static void settle_orders()
{
	for (;;) {
		std::this_thread::sleep_for(milliseconds(400));
		std::lock_guard<std::mutex> hold(orders);
		std::this_thread::sleep_for(milliseconds(30));
	}
}

static void work_for(const std::string &path, Reader &redis, std::mt19937 &chance)
{
	auto is = [&](const char *route) {
		return path.compare(0, std::string(route).size(), route) == 0;
	};

	if (is("/users/")) {
		ask_redis(redis, { "GET", "user:" + path.substr(7) });
	} else if (is("/cart/items")) {
		ask_redis(redis, { "HSET", "cart:1", "a", "b" });
	} else if (is("/cart")) {
		ask_redis(redis, { "HGETALL", "cart:1" });
	} else if (is("/search")) {
		ask_redis(redis, { "KEYS", "*nothing*" });
	} else if (is("/report/")) {
		std::this_thread::sleep_for(milliseconds(20));
	} else if (is("/login")) {
		price_bundle(milliseconds(3));
	} else if (is("/orders/")) {
		std::lock_guard<std::mutex> hold(orders);
		ask_redis(redis, { "GET", "order" });
	} else if (is("/price") && !healthy && chance() % 50 == 0) {
		price_bundle(milliseconds(20));
	}
}

static void serve(int fd)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	Reader visitor(fd), redis(local_socket(redis_port, connect));
	std::mt19937 chance(static_cast<unsigned>(fd));
	std::string head;

	while (visitor.until("\r\n\r\n", &head)) {
		size_t path = head.find(' ') + 1;

		work_for(head.substr(path, head.find(' ', path) - path), redis, chance);
		if (send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) < 0)
			break;
	}
	close(redis.fd);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {};
	socklen_t len = sizeof(at);
	int listener;

	redis_port = argc > 1 ? atoi(argv[1]) : 0;
	healthy = argc > 2;
	if (!healthy) {
		fill(milliseconds(7), 200000);
		std::thread(settle_orders).detach();
	}
	listener = local_socket(0, bind);
	if (listen(listener, 64) ||
	    getsockname(listener, reinterpret_cast<struct sockaddr *>(&at), &len))
		return 1;
	printf("port %d\n", ntohs(at.sin_port));
	fflush(stdout);
	for (;;)
		std::thread(serve, accept(listener, nullptr, nullptr)).detach();
}
