// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of generated code in a jitdump: by time, after moves, and files that lie. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/perfmap.h"

struct dump {
	int fd;
};

static void put(const struct dump *d, const void *bytes, size_t len)
{
	assert_int_equal(write(d->fd, bytes, len), (ssize_t)len);
}

static struct dump begin(uint64_t flags)
{
	struct dump d = { memfd_create("jitdump", MFD_CLOEXEC) };
	uint32_t head[6] = { 0x4a695444, 1, 40, 62, 0, 7 };
	uint64_t rest[2] = { 1, flags };

	assert_true(d.fd >= 0);
	put(&d, head, sizeof(head));
	put(&d, rest, sizeof(rest));
	return d;
}

static void record(const struct dump *d, uint32_t id, uint64_t time_ns, const uint64_t *numbers,
		   size_t n, const char *name, size_t code)
{
	size_t name_len = name ? strlen(name) + 1 : 0;
	uint32_t head[2] = { id, (uint32_t)(24 + 8 * n + name_len + code) }, ids[2] = { 7, 7 };
	char *bytes = calloc(1, code + 1);

	assert_non_null(bytes);
	put(d, head, sizeof(head));
	put(d, &time_ns, sizeof(time_ns));
	put(d, ids, sizeof(ids));
	put(d, numbers, 8 * n);
	if (name)
		put(d, name, name_len);
	put(d, bytes, code);
	free(bytes);
}

static void load(const struct dump *d, uint64_t time_ns, uint64_t addr, uint64_t index,
		 const char *name)
{
	uint64_t numbers[] = { addr, addr, 0x100, index };

	record(d, 0, time_ns, numbers, 4, name, 0x100);
}

static void move(const struct dump *d, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t index)
{
	uint64_t numbers[] = { to, from, to, 0x100, index };

	record(d, 1, time_ns, numbers, 5, NULL, 0);
}

static void expect(const struct dump *d, uint64_t addr, uint64_t time_ns, const char *want,
		   uint64_t start)
{
	struct perfmap_address a = { .addr = addr, .time_ns = time_ns };

	assert_int_equal(jitdump_find(d->fd, &a, 1), 0);
	assert_string_equal(a.name ? a.name : "none", want);
	if (a.name)
		assert_int_equal(a.start, start);
	free(a.name);
}

TEST(its_name_gives_it_away)
{
	assert_true(jitdump_is_name("/tmp/x/jit-123.dump"));
	assert_true(jitdump_is_name("jit-1.dump"));
	assert_false(jitdump_is_name("/tmp/jit-.dump"));
	assert_false(jitdump_is_name("/tmp/jit-1.dump/libx.so"));
	assert_false(jitdump_is_name("/tmp/jit-1a.dump"));
}

TEST(code_is_named_by_what_was_there_at_the_time)
{
	struct dump d = begin(0);

	load(&d, 100, 0x1000, 1, "first");
	load(&d, 200, 0x1000, 2, "second");
	load(&d, 150, 0x2000, 3, "other");
	expect(&d, 0x1010, 120, "first", 0x1000);
	expect(&d, 0x10ff, 200, "second", 0x1000);
	expect(&d, 0x1000, UINT64_MAX, "second", 0x1000);
	/* Seen just before it was written. */
	expect(&d, 0x1010, 50, "first", 0x1000);
	expect(&d, 0x2080, 1000, "other", 0x2000);
	expect(&d, 0x1100, 1000, "none", 0);
	close(d.fd);
}

TEST(moved_code_keeps_its_name)
{
	struct dump d = begin(0);

	load(&d, 100, 0x1000, 1, "moving");
	move(&d, 200, 0x1000, 0x3000, 1);
	move(&d, 300, 0x3000, 0x4000, 1);
	move(&d, 300, 0x8000, 0x9000, 77); /* of code that nobody loaded */
	expect(&d, 0x3010, 250, "moving", 0x3000);
	expect(&d, 0x4010, 350, "moving", 0x4000);
	expect(&d, 0x9010, 350, "none", 0);
	close(d.fd);
}

/* Times of another clock say nothing: the last record holds. */
TEST(without_times_the_last_record_holds)
{
	struct dump d = begin(1);

	load(&d, 1u << 30, 0x1000, 1, "first");
	load(&d, 1u << 31, 0x1000, 2, "second");
	expect(&d, 0x1010, 5, "second", 0x1000);
	close(d.fd);
}

TEST(a_name_that_is_known_is_replaced_and_others_stay)
{
	struct dump d = begin(0);
	struct perfmap_address a[2] = { { .addr = 0x1001, .name = strdup("old") },
					{ .addr = 0x7001, .name = strdup("kept") } };

	load(&d, 1, 0x1000, 1, "new");
	assert_int_equal(jitdump_find(d.fd, a, 2), 0);
	assert_string_equal(a[0].name, "new");
	assert_string_equal(a[1].name, "kept");
	free(a[0].name);
	free(a[1].name);
	close(d.fd);
}

TEST(what_is_cut_off_or_lies_is_read_up_to_there)
{
	struct perfmap_address a = { .addr = 0x1001 };
	struct dump d = begin(0);
	uint64_t huge[] = { 0x5000, 0x5000, UINT64_MAX, 9 };
	uint32_t endless[4] = { 0, 0, 0, 0 };
	off_t len;

	load(&d, 1, 0x1000, 1, "sound");
	record(&d, 0, 2, huge, 4, "all", 0); /* its end wraps around */
	record(&d, 0, 2, huge, 4, NULL, 0);  /* no name */
	record(&d, 0, 2, huge, 1, NULL, 0);  /* too short */
	put(&d, endless, sizeof(endless));   /* a record without a length */
	expect(&d, 0x1001, 5, "sound", 0x1000);
	expect(&d, 0x5001, 5, "none", 0);
	len = lseek(d.fd, 0, SEEK_END);
	for (off_t at = len; at >= 40; at--) {
		assert_int_equal(ftruncate(d.fd, at), 0);
		assert_int_equal(jitdump_find(d.fd, &a, 1), 0);
	}
	free(a.name);
	assert_int_equal(ftruncate(d.fd, 39), 0);
	assert_int_equal(jitdump_find(d.fd, &a, 1), -ENOEXEC);
	close(d.fd);
}

/* A million records of everything, for a thousand addresses. */
TEST(work_is_bounded)
{
	enum { N = 1000, RECORDS = 1000000 };
	struct dump d = begin(0);
	struct perfmap_address *a = calloc(N, sizeof(*a));
	struct {
		uint32_t head[2];
		uint64_t time_ns;
		uint32_t ids[2];
		uint64_t numbers[4];
		char name[8];
	} *records = calloc(RECORDS, sizeof(*records));

	assert_true(a && records);
	for (uint32_t i = 0; i < RECORDS; i++) {
		records[i].head[1] = sizeof(*records);
		records[i].numbers[2] = 1u << 30;
		strcpy(records[i].name, "all");
	}
	assert_int_equal(pwrite(d.fd, records, sizeof(*records) * RECORDS, 40),
			 (ssize_t)sizeof(*records) * RECORDS);
	for (uint64_t i = 0; i < N; i++)
		a[i].addr = i;
	alarm(60);
	assert_int_equal(jitdump_find(d.fd, a, N), 0);
	alarm(0);
	for (size_t i = 0; i < N; i++)
		free(a[i].name);
	free(a);
	free(records);
	close(d.fd);
}
