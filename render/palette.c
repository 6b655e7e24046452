// SPDX-License-Identifier: GPL-2.0-or-later
#include "palette.h"

#include <string.h>

/*
 * Each channel runs from base to base + span over the shades. The ranges up to orange are those of
 * flamegraph.pl, without the darkest shades. The ramps of a chain graph and of a difference have
 * 3:1 to the ground and to delimiters, in the light and in the dark: a luminance from 0.13 to 0.28.
 * Those of a chain graph can be told apart with any of the common colour blindnesses, too
 * (tests/unit/render_palette.c measures and simulates that).
 */
static const struct ramp_range {
	uint8_t base[3];
	int16_t span[3];
	const char *legend;
} ranges[RAMPS] = {
	[RAMP_HOT] = { { 214, 58, 24 }, { 41, 172, 50 }, NULL },
	[RAMP_MEM] = { { 0, 190, 0 }, { 0, 50, 210 }, NULL },
	[RAMP_IO] = { { 98, 98, 200 }, { 56, 56, 50 }, NULL },
	[RAMP_RED] = { { 200, 50, 50 }, { 55, 80, 80 }, NULL },
	[RAMP_GREEN] = { { 50, 200, 50 }, { 60, 55, 60 }, NULL },
	[RAMP_BLUE] = { { 96, 96, 212 }, { 56, 56, 43 }, NULL },
	[RAMP_AQUA] = { { 50, 165, 165 }, { 60, 55, 55 }, NULL },
	[RAMP_YELLOW] = { { 175, 175, 50 }, { 55, 55, 20 }, NULL },
	[RAMP_PURPLE] = { { 190, 80, 190 }, { 65, 60, 65 }, NULL },
	[RAMP_ORANGE] = { { 190, 90, 0 }, { 65, 65, 0 }, NULL },
	[RAMP_STACK_DELIM] = { { 16, 16, 16 }, { 0, 0, 0 }, NULL },
	[RAMP_PART_DELIM] = { { 144, 144, 144 }, { 0, 0, 0 }, NULL },
	[RAMP_OFF_CPU] = { { 87, 119, 209 }, { 12, 12, 12 }, "off-CPU" },
	[RAMP_LINK_1 + 0] = { { 17, 136, 143 }, { 8, 8, 8 }, "1st waker" },
	[RAMP_LINK_1 + 1] = { { 26, 115, 137 }, { 8, 8, 8 }, "2nd" },
	[RAMP_LINK_1 + 2] = { { 27, 145, 135 }, { 8, 8, 8 }, "3rd" },
	[RAMP_LINK_1 + 3] = { { 20, 118, 118 }, { 8, 8, 8 }, "4th" },
	[RAMP_LINK_1 + 4] = { { 44, 148, 118 }, { 8, 8, 8 }, "5th" },
	[RAMP_LINK_1 + 5] = { { 34, 120, 100 }, { 8, 8, 8 }, "6th" },
	[RAMP_LINK_1 + 6] = { { 64, 146, 100 }, { 8, 8, 8 }, "7th" },
	[RAMP_LINK_1 + 7] = { { 56, 118, 86 }, { 8, 8, 8 }, "8th" },
	[RAMP_OBJECT] = { { 146, 77, 186 }, { 6, 6, 6 }, "object" },
	[RAMP_SAMPLE] = { { 26, 153, 71 }, { 6, 6, 6 }, "sample" },
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	[RAMP_##NAME] = { RGB colour, RGB spread, name },
#define MARK(NAME, name, colour, sentence) [RAMP_##NAME] = { RGB colour, { 0, 0, 0 }, name },
#define RGB(red, green, blue)    \
	{                        \
		red, green, blue \
	}
#include "ends.def"
	[RAMP_MORE] = { { 128, 128, 128 }, { 92, -50, -60 }, "more" },
	[RAMP_LESS] = { { 128, 128, 128 }, { -92, -30, 98 }, "less" },
	[RAMP_GONE] = { { 255, 255, 255 }, { 0, 0, 0 }, "only before" },
};

/* ---- matching names ---- */

static bool ends_with(const char *s, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return len >= n && !memcmp(s + len - n, tail, n);
}

static bool starts_with(const char *s, size_t len, const char *head)
{
	size_t n = strlen(head);

	return len >= n && !memcmp(s, head, n);
}

static bool has(const char *s, size_t len, const char *what)
{
	return memmem(s, len, what, strlen(what)) != NULL;
}

static bool is(const char *s, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(s, what, len);
}

size_t palette_bare_len(const char *name, size_t len)
{
	if (len >= 4 && name[len - 1] == ']' && !memcmp(name + len - 4, "_[", 2) &&
	    memchr("kwij", name[len - 2], 4))
		return len - 4;
	return len;
}

/* ---- one function for each palette of several ramps ---- */

static enum ramp java(const char *s, size_t len)
{
	static const char *const packages[] = { "java/", "javax/", "jdk/", "net/",
						"org/",	 "com/",   "io/",  "sun/" };

	if (ends_with(s, len, "_[j]"))
		return RAMP_GREEN;
	if (ends_with(s, len, "_[i]"))
		return RAMP_AQUA;
	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++)
		if (starts_with(s, len, packages[i]) ||
		    (len && *s == 'L' && starts_with(s + 1, len - 1, packages[i])))
			return RAMP_GREEN;
	if (has(s, len, ":::"))
		return RAMP_GREEN;
	if (has(s, len, "::"))
		return RAMP_YELLOW;
	return ends_with(s, len, "_[k]") ? RAMP_ORANGE : RAMP_RED;
}

static enum ramp js(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);

	if (ends_with(s, len, "_[j]"))
		return slash ? RAMP_GREEN : RAMP_AQUA;
	if (has(s, len, "::"))
		return RAMP_YELLOW;
	if (slash && has(slash, len - (size_t)(slash - s), ".js"))
		return RAMP_GREEN;
	if (memchr(s, ':', len))
		return RAMP_AQUA;
	if (is(s, len, " "))
		return RAMP_GREEN;
	return has(s, len, "_[k]") ? RAMP_ORANGE : RAMP_RED;
}

/* Tells the standard library, other code in Rust, and the rest apart as inferno does. */
static enum ramp rust(const char *s, size_t len)
{
	static const char *const traits[] = { "as core::", "as std::", "as alloc::" };

	if (starts_with(s, len, "core::") || starts_with(s, len, "std::") ||
	    starts_with(s, len, "alloc::"))
		return RAMP_ORANGE;
	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++)
		if (has(s, len, traits[i]))
			return RAMP_ORANGE;
	return has(s, len, "::") ? RAMP_YELLOW : RAMP_RED;
}

/* By the file in the name: packages, the standard library, own code, and what is not Python. */
static enum ramp python(const char *s, size_t len)
{
	if (ends_with(s, len, "_[k]"))
		return RAMP_ORANGE;
	if (has(s, len, "site-packages") || has(s, len, "dist-packages"))
		return RAMP_AQUA;
	if (has(s, len, "<frozen ") || has(s, len, "/lib/python"))
		return RAMP_YELLOW;
	return has(s, len, ".py") || has(s, len, "<module>") ? RAMP_GREEN : RAMP_RED;
}

static enum ramp perl(const char *s, size_t len)
{
	if (has(s, len, "::"))
		return RAMP_YELLOW;
	if (has(s, len, "Perl") || has(s, len, ".pl"))
		return RAMP_GREEN;
	return ends_with(s, len, "_[k]") ? RAMP_ORANGE : RAMP_RED;
}

/* The classes that chaincap records, and the kernel's names of anonymous files. */
const char *palette_object_class(size_t i)
{
	static const char *const classes[] = {
		"file",	       "tcp",	  "udp",       "icmp",	   "sctp",     "ip",
		"unix",	       "netlink", "packet",    "vsock",	   "socket",   "pipe",
		"futex",       "epoll",	  "poll",      "select",   "eventfd",  "timerfd",
		"signalfd",    "pidfd",	  "inotify",   "fanotify", "io_uring", "aio",
		"userfaultfd", "child",	  "sleep",     "signal",   "ipc",      "call",
		"anon_inode",  "GIL",	  "file_lock",
	};

	return i < sizeof(classes) / sizeof(*classes) ? classes[i] : NULL;
}

static bool is_object(const char *s, size_t len)
{
	const char *end = memchr(s, ' ', len), *class;
	size_t n = (end ? (size_t)(end - s) : len - 1) - 1;

	if (s[len - 1] != ']')
		return false;
	for (size_t i = 0; (class = palette_object_class(i)); i++)
		if (is(s + 1, n, class))
			return true;
	return false;
}

static enum ramp chain(const char *s, size_t len)
{
	static const struct {
		const char *name;
		enum ramp ramp;
	} ends[] = {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	{ "[" name "]", RAMP_##NAME },
#define MARK_AS(NAME, name, sentence) { "[" name "]", RAMP_##NAME },
#define MARK(NAME, name, colour, sentence) MARK_AS(NAME, name, sentence)
#include "ends.def"
	};

	if (len > 2 && *s == '[') {
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			if (is(s, len, ends[i].name))
				return ends[i].ramp;
		if (starts_with(s, len, "[disk "))
			return RAMP_DISK;
		if (starts_with(s, len, "[throttled ")) /* with whose quota it was */
			return RAMP_THROTTLED;
		if (is_object(s, len))
			return RAMP_OBJECT;
	}
	return ends_with(s, len, "_[w]") ? RAMP_LINK_1 : RAMP_BY_LINK;
}

static const struct palette palettes[] = {
	{ "hot", "yellow", .ramp = RAMP_HOT },	   { "mem", "green", .ramp = RAMP_MEM },
	{ "io", "blue", .ramp = RAMP_IO },	   { "wakeup", "blue", .ramp = RAMP_AQUA },
	{ "chain", "#fafafc", .ramp_of = chain },  { "java", "yellow", .ramp_of = java },
	{ "js", "yellow", .ramp_of = js },	   { "perl", "yellow", .ramp_of = perl },
	{ "python", "yellow", .ramp_of = python }, { "rust", "yellow", .ramp_of = rust },
	{ "red", "grey", .ramp = RAMP_RED },	   { "green", "grey", .ramp = RAMP_GREEN },
	{ "blue", "grey", .ramp = RAMP_BLUE },	   { "aqua", "grey", .ramp = RAMP_AQUA },
	{ "yellow", "grey", .ramp = RAMP_YELLOW }, { "purple", "grey", .ramp = RAMP_PURPLE },
	{ "orange", "grey", .ramp = RAMP_ORANGE },
};

const struct palette *palette_at(size_t i)
{
	return i < sizeof(palettes) / sizeof(*palettes) ? &palettes[i] : NULL;
}

const struct palette *palette_find(const char *name)
{
	const struct palette *p;

	for (size_t i = 0; (p = palette_at(i)); i++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

enum ramp palette_ramp(const struct palette *p, const char *name, size_t len)
{
	if (is(name, len, "--"))
		return RAMP_STACK_DELIM;
	if (is(name, len, "-"))
		return RAMP_PART_DELIM;
	return p->ramp_of ? p->ramp_of(name, len) : p->ramp;
}

enum ramp palette_frame_ramp(uint32_t link, enum layout_part part)
{
	if (part != PART_PLAIN)
		return part == PART_SAMPLE ? RAMP_SAMPLE : RAMP_ON_CPU;
	return palette_link_ramp(link);
}

enum ramp palette_link_ramp(uint32_t link)
{
	return link ? RAMP_LINK_1 + (link - 1) % PALETTE_LINKS : RAMP_OFF_CPU;
}

unsigned palette_shade(const char *name, size_t len)
{
	uint32_t h = 2166136261;

	len = palette_bare_len(name, len);
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619;
	h ^= h >> 16;
	h *= 0x7feb352d;
	h ^= h >> 15;
	h *= 0x846ca68b;
	return (h ^ h >> 16) % PALETTE_SHADES;
}

uint32_t palette_rgb(enum ramp ramp, unsigned shade)
{
	const struct ramp_range *r = &ranges[ramp];
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++)
		rgb = rgb << 8 |
		      (uint32_t)(r->base[i] + r->span[i] * (int)shade / (PALETTE_SHADES - 1));
	return rgb;
}

bool palette_background(const char *name, uint32_t *top, uint32_t *bottom)
{
	static const struct {
		const char *name;
		uint32_t top, bottom;
	} grounds[] = {
		{ "yellow", 0xf8f8f8, 0xf4f4dc },
		{ "blue", 0xfafafc, 0xececf8 },
		{ "green", 0xf6faf6, 0xe6f6e6 },
		{ "grey", 0xf8f8f8, 0xeeeeee },
	};
	uint32_t rgb = 0;

	for (size_t i = 0; i < sizeof(grounds) / sizeof(*grounds); i++) {
		if (strcmp(grounds[i].name, name))
			continue;
		*top = grounds[i].top;
		*bottom = grounds[i].bottom;
		return true;
	}
	if (*name != '#' || strlen(name) != 7)
		return false;
	for (const char *p = name + 1; *p; p++) {
		const char *digits = "0123456789abcdef";
		const char *d = strchr(digits, *p >= 'A' && *p <= 'F' ? *p + 32 : *p);

		if (!d)
			return false;
		rgb = rgb << 4 | (uint32_t)(d - digits);
	}
	*top = *bottom = rgb;
	return true;
}

/* Ends on which there can be more: samples, who had the CPU, the parts of a request, a socket. */
/* The column `above` of ends.def. */
enum above { NOTHING, SAMPLES, OWN, HOLDERS, DETAILS };

static enum above stands_on(enum ramp ramp)
{
	switch (ramp) {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	case RAMP_##NAME:                                                           \
		return above;
#include "ends.def"
	default:
		return NOTHING;
	}
}

bool palette_is_end(enum ramp ramp, enum layout_part part, bool leaf, bool last)
{
	if (ramp < RAMP_ON_CPU || ramp > RAMP_UNKNOWN)
		return false;
	/* Who had the CPU: [throttled], [idle CPU], [recorder], [no events] */
	if (part != PART_PLAIN)
		return part == PART_ON_CPU && leaf &&
		       (ramp == RAMP_THROTTLED || ramp == RAMP_RUNNABLE);
	return leaf || (last && stands_on(ramp) != NOTHING);
}

const char *palette_legend(enum ramp ramp)
{
	if (ramp == RAMP_ON_CPU)
		return "on CPU";
	return ramp < RAMPS ? ranges[ramp].legend : NULL;
}
