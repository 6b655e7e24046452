// SPDX-License-Identifier: GPL-2.0-or-later
#include "jvm_structs.h"

#include <string.h>
#include <unistd.h>

/* JDK 17 has 800 descriptions of each kind; a hostile process has no end. */
#define ENTRIES_MAX 8192u
#define NAME_BYTES 64u

/* As the JVM has them, on machines of 64 bits (VMStructEntry, VMTypeEntry). */
struct struct_entry {
	uint64_t type, field, type_of_field; /* strings */
	int32_t is_static;
	uint64_t offset, address;
};

struct type_entry {
	uint64_t name, super; /* strings */
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

bool jvm_read(int memory, void *to, size_t len, uint64_t at)
{
	return at && at <= INT64_MAX && pread(memory, to, len, (off_t)at) == (ssize_t)len;
}

bool jvm_is_string(int memory, uint64_t at, const char *wanted)
{
	char text[NAME_BYTES];
	size_t len = strlen(wanted) + 1;

	return len <= sizeof(text) && jvm_read(memory, text, len, at) && !memcmp(text, wanted, len);
}

/* The string there; "": there is none, or it is longer than any that is wanted. */
static void read_text(int memory, uint64_t at, char text[NAME_BYTES])
{
	ssize_t n = at && at <= INT64_MAX ? pread(memory, text, NAME_BYTES, (off_t)at) : 0;

	if (n <= 0 || !memchr(text, 0, (size_t)n))
		*text = '\0';
}

static void take_field(int memory, const struct struct_entry *e, const struct jvm_wanted *w,
		       size_t n)
{
	char type[NAME_BYTES], field[NAME_BYTES] = "";

	read_text(memory, e->type, type);
	for (size_t i = 0; i < n; i++) {
		if (!w[i].field || strcmp(type, w[i].type) != 0)
			continue;
		if (!*field)
			read_text(memory, e->field, field);
		if (!strcmp(field, w[i].field))
			*w[i].out = e->is_static ? e->address : e->offset;
	}
}

static void take_size(int memory, const struct type_entry *e, const struct jvm_wanted *w, size_t n)
{
	char name[NAME_BYTES];

	read_text(memory, e->name, name);
	for (size_t i = 0; i < n; i++)
		if (!w[i].field && !strcmp(name, w[i].type))
			*w[i].out = e->size;
}

bool jvm_find(int memory, uint64_t structs, uint64_t types, const struct jvm_wanted *w, size_t n)
{
	struct struct_entry e;
	struct type_entry type;

	if (!jvm_read(memory, &structs, sizeof(structs), structs) ||
	    !jvm_read(memory, &types, sizeof(types), types))
		return false;
	for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
		if (!jvm_read(memory, &e, sizeof(e), structs + i * sizeof(e)) || !e.type)
			break;
		take_field(memory, &e, w, n);
	}
	for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
		if (!jvm_read(memory, &type, sizeof(type), types + i * sizeof(type)) || !type.name)
			break;
		take_size(memory, &type, w, n);
	}
	return true;
}
