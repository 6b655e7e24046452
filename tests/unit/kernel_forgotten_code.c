// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the map of code objects is emptied, the kernel has room for what it tells of them: it writes
 * keys and values of the map's own sizes, and no sanitizer sees it do so. Here a shim does that in
 * its place, of a map as full as it can be, so that no rights are needed.
 */

#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "kernel/bpf_private.h"

#define MAP_FD 1000

static const struct bpf_map *codes;
static uint32_t left, calls; /* elements of the map */

int __wrap_bpf_map__fd(const struct bpf_map *map);
int __wrap_bpf_map_lookup_and_delete_batch(int fd, void *in_batch, void *out_batch, void *keys,
					   void *values, __u32 *count,
					   const struct bpf_map_batch_opts *opts);

int __wrap_bpf_map__fd(const struct bpf_map *map)
{
	return map == codes ? MAP_FD : -1;
}

int __wrap_bpf_map_lookup_and_delete_batch(int fd, void *in_batch, void *out_batch, void *keys,
					   void *values, __u32 *count,
					   const struct bpf_map_batch_opts *opts)
{
	uint32_t n = left < *count ? left : *count;
	size_t key_bytes = (size_t)*count * bpf_map__key_size(codes);
	size_t value_bytes = (size_t)*count * bpf_map__value_size(codes);

	(void)opts;
	assert_int_equal(fd, MAP_FD);
	assert_int_equal(!in_batch, !calls++);
	assert_in_range(malloc_usable_size(keys), key_bytes, SIZE_MAX);
	assert_in_range(malloc_usable_size(values), value_bytes, SIZE_MAX);
	memset(keys, 0xff, key_bytes);
	memset(values, 0xff, value_bytes);
	memset(out_batch, 0, sizeof(uint32_t));
	*count = n;
	left -= n;
	return left ? 0 : -ENOENT;
}

TEST(what_is_forgotten_has_room)
{
	struct bpf_session s = { .skel = chaincap_bpf__open() };

	assert_non_null(s.skel);
	codes = s.skel->maps.codes;
	left = bpf_map__max_entries(codes);
	s.skel->bss->last_code_id = WIRE_CODES / 2 - 1;
	bpf_session_forget_code(&s);
	assert_int_equal(calls, 0); /* it is not time yet */
	s.skel->bss->last_code_id++;
	bpf_session_forget_code(&s);
	assert_int_equal(left, 0);
	assert_true(calls > 1);
	assert_int_equal(s.code_forgotten_at, WIRE_CODES / 2);
	chaincap_bpf__destroy(s.skel);
}
