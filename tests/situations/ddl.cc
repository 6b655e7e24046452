// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offers from a database (argument: how to connect): each connection has a thread and a session.
 * The answer says for how long the service waited for the database.
 */
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

class Shelf {
	PGconn *session;

public:
	explicit Shelf(const char *how) : session(PQconnectdb(how))
	{
		if (PQstatus(session) != CONNECTION_OK) {
			fputs(PQerrorMessage(session), stderr);
			exit(1);
		}
	}
	~Shelf() { PQfinish(session); }
	Shelf(const Shelf &) = delete;
	Shelf &operator=(const Shelf &) = delete;

	__attribute__((noinline)) std::string price_of(int offer)
	{
		std::string query = "select price from offers where offer = " + std::to_string(offer);
		PGresult *rows = PQexec(session, query.c_str());
		std::string price = PQntuples(rows) == 1 ? PQgetvalue(rows, 0, 0) : "none";

		PQclear(rows);
		return price;
	}
};

static void serve(int fd, const char *how)
{
	using std::chrono::steady_clock;
	char request[2048], answer[256];
	ssize_t n;
	Shelf shelf(how);

	prctl(PR_SET_NAME, "offers");
	while ((n = read(fd, request, sizeof(request) - 1)) > 0) {
		request[n] = 0;
		auto begin = steady_clock::now();
		std::string price = shelf.price_of(atoi(request + strlen("GET /")));
		auto waited = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin);

		n = snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nX-Waited: %lld\r\nContent-Length: %zu\r\n\r\n%s",
			     static_cast<long long>(waited.count()), price.size(), price.c_str());
		if (write(fd, answer, static_cast<size_t>(n)) != n)
			break;
	}
	close(fd);
}

int main(int argc, char **argv)
{
	sockaddr_in address = {};
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc != 2 || bind(listening, reinterpret_cast<sockaddr *>(&address), length) || listen(listening, 64) ||
	    getsockname(listening, reinterpret_cast<sockaddr *>(&address), &length))
		return 1;
	printf("port %u\n", ntohs(address.sin_port));
	fflush(stdout);
	while ((fd = accept(listening, nullptr, nullptr)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		std::thread(serve, fd, argv[1]).detach();
	}
	return 1;
}
