// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of a process context: which attribute is the route. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../contexts/publish.h"
#include "chainwire.h"
#include "files/process_context.h"

static uint32_t route_among(const char *const *keys, size_t n)
{
	uint8_t payload[200];

	return process_context_route(payload, put_keys(payload, keys, n));
}

TEST(the_route_is_found_by_its_name)
{
	static const char *const none[] = { "http.method", "user.id", "http.routes" };
	static const char *const one[] = { "a", "http_route", "b" };
	static const char *const two[] = { "rpc.method", "b", "http.route" };

	assert_int_equal(route_among(none, 3), WIRE_NO_KEY);
	assert_int_equal(route_among(one, 3), 1);
	assert_int_equal(route_among(two, 3), 2);
	assert_int_equal(route_among(one, 0), WIRE_NO_KEY);
}

/* As the first writers did it: the attribute is one of the resource, or the payload is that. */
TEST(a_resource_may_have_the_keys)
{
	static const char *const keys[] = { "x", "http.route" };
	uint8_t payload[200], resource[220], context[240] = { 0x10, 7 };
	size_t len = put_keys(payload, keys, 2);

	payload[0] = 1 << 3 | 2;
	assert_int_equal(process_context_route(payload, len), 1);
	len = put_field(resource, 1, payload, len);
	memcpy(context + 2, resource, len);
	assert_int_equal(process_context_route(context, len + 2), 1);
}

TEST(what_is_cut_or_wrong_has_no_route)
{
	static const char *const keys[] = { "x", "http.route" };
	uint8_t payload[200], wrong[200];
	size_t len = put_keys(payload, keys, 2);

	for (size_t i = 0; i < len; i++)
		assert_int_equal(process_context_route(payload, i), WIRE_NO_KEY);
	/* No change of a byte leads out of the bytes; -fsanitize sees it if one does. */
	for (size_t i = 0; i < 8 * len; i++) {
		memcpy(wrong, payload, len);
		wrong[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_in_range(process_context_route(wrong, len), 0, WIRE_NO_KEY);
	}
}

/* A process that publishes two keys, if it publishes, and waits. */
static pid_t start(bool publishes, int *end)
{
	static const char *const keys[] = { "http.route", "y" };
	int ready[2], over[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(over), 0);
	pid = fork_child();
	if (!pid) {
		close(over[1]);
		if (publishes && !publish_keys(keys, 2))
			_exit(1);
		_exit(write(ready[1], "r", 1) != 1 || read(over[0], &byte, 1) < 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(over[0]);
	*end = over[1];
	return pid;
}

static void end(pid_t pid, int fd)
{
	int status;

	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(it_is_found_in_another_process)
{
	int over, fd;
	pid_t pid = start(true, &over);
	uint8_t payload[PROCESS_CONTEXT_MAX];
	ssize_t len;

	fd = process_context_copy((uint32_t)pid);
	assert_true(fd >= 0);
	len = pread(fd, payload, sizeof(payload), 0);
	assert_true(len > 0);
	assert_int_equal(process_context_route(payload, (size_t)len), 0);
	close(fd);
	end(pid, over);
	pid = start(false, &over);
	assert_int_equal(process_context_copy((uint32_t)pid), -ENOENT);
	end(pid, over);
	assert_true(process_context_copy((uint32_t)pid) < 0);
}
