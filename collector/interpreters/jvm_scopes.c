// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Methods that were compiled into another one: at each call the JVM has described which of them are
 * there (PcDesc, ScopeDesc), as numbers of one to five bytes (UNSIGNED5).
 */
#include "jvm_code_private.h"

#include "files/jvm_structs.h"

#define PLACES_MAX (1 << 20)
#define METADATA_MAX (1u << 20)
/* In a number's bytes: from this value on another one follows. */
#define GOES_ON 192u

/* struct PcDesc */
struct place {
	int32_t offset, scope, objects, flags;
};

/* The description of the call that returns to that offset of the code. */
static bool find_place(const struct jvm *j, const struct jvm_scopes *s, struct place *out)
{
	int32_t low = 0, high = (int32_t)((s->places_end - s->places) / sizeof(*out));

	if (s->places_end < s->places || high > PLACES_MAX)
		return false;
	while (low < high) {
		int32_t i = low + (high - low) / 2;

		if (!jvm_read(j->memory, out, sizeof(*out), s->places + (uint32_t)i * sizeof(*out)))
			return false;
		if (out->offset == s->offset)
			return out->scope > 0;
		if (out->offset < s->offset)
			low = i + 1;
		else
			high = i;
	}
	return false;
}

uint32_t jvm_take_number(const uint8_t *bytes, uint32_t n, uint32_t *at)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < 5 && *at < n; i++) {
		uint8_t byte = bytes[(*at)++];

		v += (uint32_t)byte << (6 * i);
		if (byte < GOES_ON)
			break;
	}
	return v;
}

/* Reads the scope at *offset, and goes to the one of its caller; 0: there is none. */
static bool read_scope(const struct jvm *j, const struct jvm_scopes *s, uint32_t *offset,
		       struct jvm_scope *out)
{
	uint8_t bytes[15];
	uint32_t at = 0, index;

	if (!jvm_read(j->memory, bytes, sizeof(bytes), s->scopes + *offset))
		return false;
	*offset = jvm_take_number(bytes, sizeof(bytes), &at);
	index = jvm_take_number(bytes, sizeof(bytes), &at);
	out->bci = (int32_t)(jvm_take_number(bytes, sizeof(bytes), &at) - 1);
	return index && index < METADATA_MAX &&
	       jvm_read(j->memory, &out->method, sizeof(out->method),
			s->metadata + 8ull * (index - 1));
}

uint32_t jvm_scopes_find(const struct jvm *j, const struct jvm_scopes *s, struct jvm_scope *out)
{
	struct place place;
	uint32_t offset, n = 0;

	if (!find_place(j, s, &place))
		return 0;
	for (offset = (uint32_t)place.scope; offset && n < JVM_SCOPES_MAX; n++)
		if (!read_scope(j, s, &offset, &out[n]))
			return 0;
	/* The outermost one is what was compiled. */
	return !offset && n && out[n - 1].method == s->method ? n : 0;
}
