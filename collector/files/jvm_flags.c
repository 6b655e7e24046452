// SPDX-License-Identifier: GPL-2.0-or-later
#include "jvm_flags.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* JDK 17 has 800 descriptions of each kind, and 1300 options; a hostile process has no end. */
#define ENTRIES_MAX 8192u
#define FLAG_BYTES_MAX 256u
#define NAME_BYTES 24u

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

/* The table of options: n structs of `bytes` bytes. */
struct table {
	uint64_t at, n, bytes;
	uint64_t name, value; /* offsets in the struct: of a string, of a pointer */
};

static bool read_at(int memory, void *to, size_t len, uint64_t at)
{
	return at && at <= INT64_MAX && pread(memory, to, len, (off_t)at) == (ssize_t)len;
}

/* Whether the string there is that one. */
static bool is_string(int memory, uint64_t at, const char *wanted)
{
	char text[NAME_BYTES];
	size_t len = strlen(wanted) + 1;

	return read_at(memory, text, len, at) && !memcmp(text, wanted, len);
}

/* JDK 8 has another name for it. */
static bool is_flag_type(int memory, uint64_t at)
{
	return is_string(memory, at, "JVMFlag") || is_string(memory, at, "Flag");
}

static void take_field(int memory, const struct struct_entry *e, struct table *t)
{
	if (e->is_static && is_string(memory, e->field, "flags"))
		(void)read_at(memory, &t->at, sizeof(t->at), e->address);
	else if (e->is_static && is_string(memory, e->field, "numFlags"))
		(void)read_at(memory, &t->n, sizeof(t->n), e->address);
	else if (!e->is_static && is_string(memory, e->field, "_name"))
		t->name = e->offset;
	else if (!e->is_static && is_string(memory, e->field, "_addr"))
		t->value = e->offset;
}

static bool find_table(int memory, uint64_t structs, uint64_t types, struct table *t)
{
	struct struct_entry e;
	struct type_entry type;

	*t = (struct table) { .name = UINT64_MAX, .value = UINT64_MAX };
	for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
		if (!read_at(memory, &e, sizeof(e), structs + i * sizeof(e)) || !e.type)
			break;
		if (is_flag_type(memory, e.type))
			take_field(memory, &e, t);
	}
	for (uint32_t i = 0; i < ENTRIES_MAX && !t->bytes; i++) {
		if (!read_at(memory, &type, sizeof(type), types + i * sizeof(type)) || !type.name)
			break;
		if (is_flag_type(memory, type.name))
			t->bytes = type.size;
	}
	return t->at && t->n && t->bytes <= FLAG_BYTES_MAX && t->bytes >= sizeof(uint64_t) &&
	       t->name <= t->bytes - sizeof(uint64_t) && t->value <= t->bytes - sizeof(uint64_t);
}

/* An option that is on or off. */
static bool read_flag(int memory, const uint8_t *flag, const struct table *t, bool *out)
{
	uint64_t at;
	uint8_t value;

	memcpy(&at, flag + t->value, sizeof(at));
	if (!read_at(memory, &value, sizeof(value), at) || value > 1)
		return false;
	*out = value;
	return true;
}

int jvm_flags_read(int memory, uint64_t structs, uint64_t types, struct jvm_flags *out)
{
	const struct {
		const char *name;
		bool *value;
	} wanted[] = {
		{ "PreserveFramePointer", &out->frame_pointers },
		{ "UseCompiler", &out->compiles },
		{ "DisableAttachMechanism", &out->is_deaf },
	};
	uint8_t flag[FLAG_BYTES_MAX];
	unsigned int found = 0; /* bits */
	struct table t;

	if (!read_at(memory, &structs, sizeof(structs), structs) ||
	    !read_at(memory, &types, sizeof(types), types) ||
	    !find_table(memory, structs, types, &t))
		return -ENOENT;
	for (uint64_t i = 0; i < t.n && i < ENTRIES_MAX && found != 7; i++) {
		uint64_t name;

		if (!read_at(memory, flag, t.bytes, t.at + i * t.bytes))
			break;
		memcpy(&name, flag + t.name, sizeof(name));
		for (unsigned int k = 0; k < 3; k++)
			if (is_string(memory, name, wanted[k].name) &&
			    read_flag(memory, flag, &t, wanted[k].value))
				found |= 1u << k;
	}
	return found == 7 ? 0 : -ENOENT;
}
