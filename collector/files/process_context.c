// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/types.h>

#include "chainwire.h"
#include "helper/call_timeout.h"
#include "kernel/host_proc.h"

/* ---- finding it ----------------------------------------------------------------------------- */

/* What is at the beginning of the mapping. */
struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published_ns; /* 0: it is being changed */
	uint64_t payload;      /* address */
};

#define VERSION 2u
static const char signature[] = "OTEL_CTX";

static bool read_at(int memory, void *to, size_t len, uint64_t at)
{
	return at <= INT64_MAX && pread(memory, to, len, (off_t)at) == (ssize_t)len;
}

static bool read_header(int memory, struct header *h, uint64_t at)
{
	return read_at(memory, h, sizeof(*h), at) &&
	       !memcmp(h->signature, signature, sizeof(h->signature)) && h->version == VERSION &&
	       h->published_ns && h->size <= PROCESS_CONTEXT_MAX;
}

/* Copies the payload. Returns a descriptor or a negative errno. */
static int copy_payload(int memory, uint64_t at)
{
	static uint8_t payload[PROCESS_CONTEXT_MAX];
	struct header before, after;
	int fd;

	if (!read_header(memory, &before, at) ||
	    !read_at(memory, payload, before.size, before.payload) ||
	    !read_header(memory, &after, at) || memcmp(&before, &after, sizeof(before)))
		return -ENOENT;
	fd = memfd_create("context", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, payload, before.size) == (ssize_t)before.size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOMEM;
}

/* "start-end perms offset device inode   name" */
static bool is_context(const char *line, uint64_t *start)
{
	static const char *const names[] = { "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
					     "/memfd:OTEL_CTX" };
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %*x:%*x %*u %n", start, &name) != 1 || !name)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(line + name, names[i], strlen(names[i])))
			return true;
	return false;
}

struct search {
	uint32_t tgid;
	int err;
};

/* In a process that may hang: this one may hold the lock of its mappings. */
static int run_search(void *data, int none)
{
	struct search *s = data;
	char *line = NULL;
	size_t cap = 0;
	int memory, found = -ENOENT;
	uint64_t start;
	FILE *maps;

	(void)none;
	memory = open(host_proc_name(s->tgid, "mem").text, O_RDONLY | O_CLOEXEC);
	maps = memory < 0 ? NULL : fopen(host_proc_name(s->tgid, "maps").text, "re");
	while (maps && found < 0 && getline(&line, &cap, maps) > 0)
		if (is_context(line, &start))
			found = copy_payload(memory, start);
	free(line);
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	s->err = found < 0 ? found : 0;
	return found < 0 ? -1 : found;
}

int process_context_copy(uint32_t tgid)
{
	struct search s = { .tgid = tgid };
	int fd, err = call_with_timeout(run_search, call_key_process(tgid), &s, sizeof(s), -1, &fd);

	if (err)
		return err;
	return fd >= 0 ? fd : s.err ? s.err : -ENOENT;
}

/* ---- parsing -------------------------------------------------------------------------------- */

/*
 * Messages of protocol buffers, by the numbers of their fields:
 *
 *     context    1: resource, 2: attribute     (or, as at first, a resource alone)
 *     resource   1: attribute
 *     attribute  1: key, 2: value
 *     value      1: string, 5: array
 *     array      1: value
 */
struct bytes {
	const uint8_t *p, *end;
};

struct field {
	uint64_t number;
	bool has_bytes; /* else it is a number, and skipped */
	struct bytes bytes;
};

static bool take_varint(struct bytes *b, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		*v |= (uint64_t)(*b->p & 0x7f) << shift;
		if (!(*b->p++ & 0x80))
			return true;
	}
	return false;
}

/* The next field of a message; false: there is none that can be read. */
static bool take_field(struct bytes *b, struct field *f)
{
	uint64_t tag, len = 0;

	if (!take_varint(b, &tag))
		return false;
	*f = (struct field) { .number = tag >> 3 };
	switch (tag & 7) {
	case 0:
		return take_varint(b, &len);
	case 1:
		len = 8;
		break;
	case 2:
		f->has_bytes = true;
		if (!take_varint(b, &len))
			return false;
		break;
	case 5:
		len = 4;
		break;
	default:
		return false;
	}
	if (len > (uint64_t)(b->end - b->p))
		return false;
	f->bytes = (struct bytes) { b->p, b->p + len };
	b->p += len;
	return true;
}

/* The last field of that number, which is what counts; false: there is none. */
static bool find_field(struct bytes message, uint64_t number, struct bytes *out)
{
	bool found = false;
	struct field f;

	while (take_field(&message, &f)) {
		if (f.number != number || !f.has_bytes)
			continue;
		*out = f.bytes;
		found = true;
	}
	return found;
}

static bool is_text(struct bytes b, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(b.end - b.p) == len && !memcmp(b.p, text, len);
}

/* Of the keys in an array, the one that is the route. */
static uint32_t find_route(struct bytes array)
{
	static const char *const routes[] = { "http.route", "http_route", "rpc.method",
					      "rpc_method" };
	uint32_t found = WIRE_NO_KEY, index = 0;
	size_t best = sizeof(routes) / sizeof(routes[0]);
	struct bytes key;
	struct field f;

	for (; index < WIRE_NO_KEY && take_field(&array, &f); index++) {
		if (f.number != 1 || !f.has_bytes || !find_field(f.bytes, 1, &key))
			continue;
		for (size_t i = 0; i < best; i++) {
			if (!is_text(key, routes[i]))
				continue;
			best = i;
			found = index;
		}
	}
	return found;
}

/* WIRE_NO_KEY: it is another attribute. */
static uint32_t route_of_attribute(struct bytes attribute)
{
	struct bytes key, value, array;

	if (!find_field(attribute, 1, &key) || !is_text(key, "threadlocal.attribute_key_map") ||
	    !find_field(attribute, 2, &value) || !find_field(value, 5, &array))
		return WIRE_NO_KEY;
	return find_route(array);
}

uint32_t process_context_route(const uint8_t *p, size_t len)
{
	struct bytes context = { p, p + len };
	uint32_t found = WIRE_NO_KEY;
	struct field f, inner;

	while (found == WIRE_NO_KEY && take_field(&context, &f)) {
		if ((f.number != 1 && f.number != 2) || !f.has_bytes)
			continue;
		found = route_of_attribute(f.bytes);
		while (f.number == 1 && found == WIRE_NO_KEY && take_field(&f.bytes, &inner))
			if (inner.number == 1 && inner.has_bytes)
				found = route_of_attribute(inner.bytes);
	}
	return found;
}
