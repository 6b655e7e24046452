/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memo.h - remembers a number for each distinct string of bytes. It is for long keys that come
 * again and again, such as the text of a whole stack: the hash takes many bytes at a time, and is
 * seeded so that made input cannot make all keys fall into one slot.
 */
#ifndef ENGINE_MEMO_H
#define ENGINE_MEMO_H

#include <stddef.h>
#include <stdint.h>

struct memo_entry {
	uint64_t hash;
	size_t at; /* of the key in keys[] */
	uint32_t len, value;
};

/* All zero is an empty memo, ready for use. */
struct memo {
	char *keys;
	size_t len, cap;
	struct memo_entry *entries;
	size_t n, cap_entries;
	uint32_t *slots; /* open addressing: place in entries[] plus one, 0: free */
	size_t mask;
	uint64_t seed;
};

/*
 * Where the number for the len bytes at key is kept: 0 if they are new. It may be changed until
 * the next call. len is below 2^32. NULL: out of memory.
 */
uint32_t *memo_at(struct memo *m, const void *key, size_t len);
/* The i-th key that was added, from 0, and its length. */
static inline const char *memo_key(const struct memo *m, size_t i, size_t *len)
{
	*len = m->entries[i].len;
	return m->keys + m->entries[i].at;
}
/* Forgets all keys; the memory is kept for the next ones. */
void memo_clear(struct memo *m);
void memo_free(struct memo *m);

#endif /* ENGINE_MEMO_H */
