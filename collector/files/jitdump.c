// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/grow.h"

#define MAGIC 0x4a695444u
#define FLAG_ARCH_TIMESTAMP 1u /* times are not those of CLOCK_MONOTONIC */
/* More code than any program has at a time. */
#define CODES_MAX (1u << 20)
#define RECORDS_MAX (4u << 20)
#define NAME_MAX_BYTES 4000u
/* Records times addresses that they cover. */
#define HITS_MAX (16u << 20)

enum { RECORD_LOAD = 0, RECORD_MOVE = 1 };

struct file_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct record_header {
	uint32_t id, bytes;
	uint64_t time_ns;
};

/* After the header; a LOAD's is followed by the name, which ends in a zero, and the code. */
struct record_load {
	uint32_t pid, tid;
	uint64_t vma, addr, bytes, index;
};

struct record_move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, addr, bytes, index;
};

/* Code at an address from a time on. */
struct code {
	uint64_t addr, bytes, time_ns, index;
	uint64_t name_at; /* in the file; 0: that of the code with this index (a move) */
	uint32_t name_bytes;
};

struct codes {
	struct code *at; /* in the order of the file */
	size_t n, cap;
};

bool jitdump_is_name(const char *path)
{
	const char *base = strrchr(path, '/'), *digit;

	base = base ? base + 1 : path;
	if (strncmp(base, "jit-", 4))
		return false;
	digit = base + 4;
	while (isdigit((unsigned char)*digit))
		digit++;
	return digit > base + 4 && !strcmp(digit, ".dump");
}

/* ---- reading -------------------------------------------------------------------------------- */

static int add(struct codes *c, const struct code *code)
{
	if (c->n == CODES_MAX)
		return 0;
	if (!GROW(c->at, c->n, c->cap))
		return -ENOMEM;
	c->at[c->n++] = *code;
	return 0;
}

/* Takes in the body of a record, of which len bytes were read, at file offset at. */
static int take_record(struct codes *c, const struct record_header *h, const uint8_t *body,
		       size_t len, uint64_t at)
{
	size_t room = h->bytes - sizeof(*h);
	struct record_load load;
	struct record_move move;
	struct code code;

	if (h->id == RECORD_LOAD && len >= sizeof(load) && room > sizeof(load)) {
		memcpy(&load, body, sizeof(load));
		room -= sizeof(load);
		code = (struct code) {
			.addr = load.addr,
			.bytes = load.bytes,
			.time_ns = h->time_ns,
			.index = load.index,
			.name_at = at + sizeof(load),
			.name_bytes = room < NAME_MAX_BYTES ? (uint32_t)room : NAME_MAX_BYTES,
		};
	} else if (h->id == RECORD_MOVE && len >= sizeof(move) && room >= sizeof(move)) {
		memcpy(&move, body, sizeof(move));
		code = (struct code) {
			.addr = move.addr,
			.bytes = move.bytes,
			.time_ns = h->time_ns,
			.index = move.index,
		};
	} else {
		return 0;
	}
	return code.addr + code.bytes > code.addr ? add(c, &code) : 0;
}

static int read_records(int fd, struct codes *c)
{
	uint8_t bytes[sizeof(struct record_header) + sizeof(struct record_move)];
	struct file_header file;
	struct record_header h;
	bool has_times;
	uint64_t at;
	int err = 0;

	if (pread(fd, &file, sizeof(file), 0) != sizeof(file) || file.magic != MAGIC ||
	    file.bytes < sizeof(file))
		return -ENOEXEC;
	has_times = !(file.flags & FLAG_ARCH_TIMESTAMP);
	at = file.bytes;
	for (uint32_t i = 0; i < RECORDS_MAX && !err; i++) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), (off_t)at);

		if (n < 0)
			return -errno;
		if ((size_t)n < sizeof(h))
			break;
		memcpy(&h, bytes, sizeof(h));
		if (h.bytes < sizeof(h))
			break;
		if (!has_times)
			h.time_ns = 0;
		err = take_record(c, &h, bytes + sizeof(h), (size_t)n - sizeof(h), at + sizeof(h));
		at += h.bytes;
	}
	return err;
}

/* ---- moves ---------------------------------------------------------------------------------- */

static int by_index(const void *pa, const void *pb)
{
	const struct code *a = *(const struct code *const *)pa,
			  *b = *(const struct code *const *)pb;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	/* What has a name first. */
	return !a->name_at - !b->name_at;
}

/* Gives code that was moved the name that it had. */
static int name_moves(struct codes *c)
{
	struct code **order = malloc((c->n + 1) * sizeof(struct code *));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		order[i] = &c->at[i];
	qsort(order, c->n, sizeof(struct code *), by_index);
	for (size_t i = 1; i < c->n; i++) {
		if (order[i]->name_at || order[i]->index != order[i - 1]->index)
			continue;
		order[i]->name_at = order[i - 1]->name_at;
		order[i]->name_bytes = order[i - 1]->name_bytes;
	}
	free(order);
	return 0;
}

/* ---- searching ------------------------------------------------------------------------------ */

/* best[i]: the code at a[i], NULL: none. */
static void choose(const struct codes *c, const struct perfmap_address *a, size_t n,
		   const struct code **best)
{
	uint64_t hits = 0;

	for (size_t k = 0; k < c->n && hits < HITS_MAX; k++) {
		const struct code *code = &c->at[k];

		if (!code->name_at)
			continue;
		for (size_t i = perfmap_first_at(a, n, code->addr);
		     i < n && a[i].addr - code->addr < code->bytes; i++) {
			hits++;
			if (!best[i] || code->time_ns <= a[i].time_ns)
				best[i] = code;
		}
	}
}

static int put_name(int fd, struct perfmap_address *a, const struct code *code)
{
	char name[NAME_MAX_BYTES + 1];
	ssize_t n = pread(fd, name, code->name_bytes, (off_t)code->name_at);
	char *copy;

	if (n <= 0)
		return 0;
	name[n] = '\0';
	copy = *name ? strdup(name) : NULL;
	if (!copy)
		return *name ? -ENOMEM : 0;
	free(a->name);
	a->name = copy;
	a->start = code->addr;
	return 0;
}

int jitdump_find(int fd, struct perfmap_address *a, size_t n)
{
	const struct code **best = calloc(n + 1, sizeof(const struct code *));
	struct codes c = { .n = 0 };
	int err = best ? read_records(fd, &c) : -ENOMEM;

	if (!err)
		err = name_moves(&c);
	if (!err)
		choose(&c, a, n, best);
	for (size_t i = 0; i < n && !err; i++)
		if (best[i])
			err = put_name(fd, &a[i], best[i]);
	free(best);
	free(c.at);
	return err;
}
