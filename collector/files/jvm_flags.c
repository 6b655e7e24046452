// SPDX-License-Identifier: GPL-2.0-or-later
#include "jvm_flags.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* JDK 17 has 1300 options; a hostile process has no end. */
#define FLAGS_MAX 8192u
#define FLAG_BYTES_MAX 256u

/* The table of options: n structs of `bytes` bytes. */
struct table {
	uint64_t at, n, bytes;
	uint64_t name, value; /* offsets in the struct: of a string, of a pointer */
};

/* JDK 8 has another name for it. */
#define FIELDS(type, t)                                                                            \
	{ type, "flags", &(t)->at }, { type, "numFlags", &(t)->n }, { type, "_name", &(t)->name }, \
		{ type, "_addr", &(t)->value },                                                    \
	{                                                                                          \
		type, NULL, &(t)->bytes                                                            \
	}

static bool find_table(int memory, uint64_t structs, uint64_t types, struct table *t)
{
	const struct jvm_wanted wanted[] = { FIELDS("JVMFlag", t), FIELDS("Flag", t) };

	*t = (struct table) { .name = UINT64_MAX, .value = UINT64_MAX };
	return jvm_find(memory, structs, types, wanted, sizeof(wanted) / sizeof(wanted[0])) &&
	       jvm_read(memory, &t->at, sizeof(t->at), t->at) &&
	       jvm_read(memory, &t->n, sizeof(t->n), t->n) && t->at && t->n &&
	       t->bytes <= FLAG_BYTES_MAX && t->bytes >= sizeof(uint64_t) &&
	       t->name <= t->bytes - sizeof(uint64_t) && t->value <= t->bytes - sizeof(uint64_t);
}

/* An option that is on or off. */
static bool read_flag(int memory, const uint8_t *flag, const struct table *t, bool *out)
{
	uint64_t at;
	uint8_t value;

	memcpy(&at, flag + t->value, sizeof(at));
	if (!jvm_read(memory, &value, sizeof(value), at) || value > 1)
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

	if (!find_table(memory, structs, types, &t))
		return -ENOENT;
	for (uint64_t i = 0; i < t.n && i < FLAGS_MAX && found != 7; i++) {
		uint64_t name;

		if (!jvm_read(memory, flag, t.bytes, t.at + i * t.bytes))
			break;
		memcpy(&name, flag + t.name, sizeof(name));
		for (unsigned int k = 0; k < 3; k++)
			if (jvm_is_string(memory, name, wanted[k].name) &&
			    read_flag(memory, flag, &t, wanted[k].value))
				found |= 1u << k;
	}
	return found == 7 ? 0 : -ENOENT;
}
