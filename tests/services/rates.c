// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The peer of convert.go: tells a rate. Every 40th time it works out all rates anew, for so many
 * milliseconds (second argument). The first argument is the path of its socket.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "../workload/slow/slow.h"

static NOINLINE void work_out_rates(uint64_t ms)
{
	compute(ms * 1000);
	after++;
}

static NOINLINE void tell_rates(int fd, uint64_t ms)
{
	char question[64];

	for (unsigned int i = 1; read(fd, question, sizeof(question)) > 0; i++) {
		if (i % 40 == 0)
			work_out_rates(ms);
		if (write(fd, "1.17\n", 5) != 5)
			die("write");
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);

	if (argc != 3)
		return 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listening, 1))
		die(argv[1]);
	tell_rates(accept(listening, NULL, NULL), (uint64_t)atoi(argv[2]));
	return 0;
}
