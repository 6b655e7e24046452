// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_hpack.h"

#include "route_writer.h"

/* ---- strings and numbers -------------------------------------------------------------------- */

/* The most that headers can be the code of: five bits for each. */
#define TEXT_MAX (HTTP2_HEADERS_BYTES * 8 / 5)
#define CODE_BITS 30

/* How many symbols have a code of so many bits (appendix B, which is in their order). */
static const uint8_t of_length[CODE_BITS + 1] = {
	[5] = 10,  [6] = 26,  [7] = 32, [8] = 6,   [10] = 5,  [11] = 3,	 [12] = 2,
	[13] = 6,  [14] = 2,  [15] = 3, [19] = 3,  [20] = 8,  [21] = 13, [22] = 26,
	[23] = 29, [24] = 12, [25] = 4, [26] = 15, [27] = 19, [28] = 29, [30] = 3,
};

/* The symbols, by the length of their codes and then by their values. */
static const uint8_t symbols[256] = {
	48,  49,  50,  97,  99,	 101, 105, 111, 115, 116, 32,  37,  45,	 46,  47,  51,	52,  53,
	54,  55,  56,  57,  61,	 65,  95,  98,	100, 102, 103, 104, 108, 109, 110, 112, 114, 117,
	58,  66,  67,  68,  69,	 70,  71,  72,	73,  74,  75,  76,  77,	 78,  79,  80,	81,  82,
	83,  84,  85,  86,  87,	 89,  106, 107, 113, 118, 119, 120, 121, 122, 38,  42,	44,  59,
	88,  90,  33,  34,  40,	 41,  63,  39,	43,  124, 35,  62,  0,	 36,  64,  91,	93,  126,
	94,  125, 60,  96,  123, 92,  195, 208, 128, 130, 131, 162, 184, 194, 224, 226, 153, 161,
	167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129, 132, 133, 134, 136, 146, 154,
	156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228, 232,
	233, 1,	  135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165,
	166, 168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239, 9,	 142, 144, 145, 148, 159,
	171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201, 202, 205, 210, 213,
	218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245,
	246, 247, 248, 250, 251, 252, 253, 254, 2,   3,	  4,   5,   6,	 7,   8,   11,	12,  14,
	15,  16,  17,  18,  19,	 20,  21,  23,	24,  25,  26,  27,  28,	 29,  30,  31,	127, 220,
	249, 10,  13,  22,
};

struct text {
	size_t n;
	uint8_t at[TEXT_MAX];
};

/* The symbol whose code is next; -1: none, as at the end, where ones fill the last byte. */
static int next_symbol(const struct bytes *code, size_t *bit)
{
	uint32_t value = 0, first = 0, index = 0;

	for (size_t length = 1; length <= CODE_BITS && *bit < 8 * left(code); length++) {
		value = value << 1 | (code->at[*bit / 8] >> (7 - *bit % 8) & 1u);
		++*bit;
		if (value - first < of_length[length])
			return symbols[index + value - first];
		index += of_length[length];
		first = (first + of_length[length]) << 1;
	}
	return -1;
}

static bool decode_huffman(struct bytes code, struct text *to)
{
	size_t bit = 0;

	to->n = 0;
	for (;;) {
		size_t begin = bit;
		int symbol = next_symbol(&code, &bit);

		if (symbol < 0)
			return bit == 8 * left(&code) && bit - begin < 8;
		if (to->n == sizeof(to->at))
			return false;
		to->at[to->n++] = (uint8_t)symbol;
	}
}

/* A number of which the first byte has so many bits (section 5.1). */
static bool take_number(struct bytes *b, unsigned int bits, uint32_t *number)
{
	uint32_t most = (1u << bits) - 1, byte;

	if (!left(b))
		return false;
	*number = *b->at++ & most;
	if (*number < most)
		return true;
	for (unsigned int shift = 0; left(b) && shift <= 14; shift += 7) {
		byte = *b->at++;
		*number += (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_string(struct bytes *b, struct text *to)
{
	bool is_huffman = peek(b) & 0x80;
	struct bytes string;
	uint32_t n;

	if (!take_number(b, 7, &n) || n > left(b))
		return false;
	string = (struct bytes) { b->at, b->at + n };
	b->at = string.end;
	if (is_huffman)
		return decode_huffman(string, to);
	if (n > sizeof(to->at))
		return false;
	memcpy(to->at, string.at, n);
	to->n = n;
	return true;
}

/* ---- what is kept of headers ----------------------------------------------------------------- */

#define STATIC_ENTRIES 61u
#define ENTRY_BYTES 32u /* beside its name and its value (section 4.1) */

/* How long the names are of the headers that all connections know (appendix A). */
static const uint8_t static_names[STATIC_ENTRIES + 1] = {
	0, 10, 7,  7,  5,  5,  7,  7,  7,  7,  7,  7,  7, 7,  7,  14, 15, 15, 13, 6,  27,
	3, 5,  13, 13, 19, 16, 16, 14, 16, 13, 12, 6,  4, 4,  6,  7,  4,  4,  8,  17, 13,
	8, 19, 13, 4,  8,  12, 18, 19, 5,  7,  7,  11, 6, 10, 25, 17, 10, 4,  3,  16,
};

/* A header, as it is known while its block is decoded. */
struct header {
	enum hpack_name name;
	uint16_t name_len, value_len;
	char text[ROUTE_NAME_MAX]; /* of a method or a path; "": not known */
};

static enum hpack_name name_of(const struct text *name)
{
	if (name->n == 7 && !memcmp(name->at, ":method", 7))
		return HPACK_METHOD;
	if (name->n == 12 && !memcmp(name->at, "content-type", 12))
		return HPACK_CONTENT_TYPE;
	return name->n == 5 && !memcmp(name->at, ":path", 5) ? HPACK_PATH : HPACK_OTHER;
}

static void set_text(struct header *to, struct bytes value)
{
	const char *method = route_http_method(value);
	struct route_writer w;
	struct route r;

	w = route_begin(&r, ROUTE_HTTP2, false);
	if (to->name == HPACK_METHOD && method)
		route_put_text(&w, method);
	else if (to->name == HPACK_PATH && peek(&value) == '/')
		route_put_path(&w, value);
	else if (to->name == HPACK_CONTENT_TYPE && take_text(&value, HPACK_GRPC))
		route_put_text(&w, HPACK_GRPC);
	memcpy(to->text, r.name, sizeof(to->text));
}

static void set_value(struct header *to, const struct text *value)
{
	to->value_len = (uint16_t)value->n;
	set_text(to, (struct bytes) { value->at, value->at + value->n });
}

static struct header static_header(uint32_t index)
{
	static const char *const values[] = { [2] = "GET", "POST", "/", "/index.html" };
	struct header is = { .name_len = static_names[index] };

	if (index >= 2 && index <= 5) {
		const char *value = values[index];

		is.name = index <= 3 ? HPACK_METHOD : HPACK_PATH;
		set_text(&is, (struct bytes) { (const uint8_t *)value,
					       (const uint8_t *)value + strlen(value) });
	}
	if (index == 31)
		is.name = HPACK_CONTENT_TYPE;
	return is;
}

/* The header with this index. False: there is none. */
static bool find_header(const struct hpack *h, uint32_t index, struct header *is)
{
	const struct hpack_entry *e;

	if (!index)
		return false;
	if (index <= STATIC_ENTRIES) {
		*is = static_header(index);
		return true;
	}
	*is = (struct header) { .name = HPACK_UNKNOWN };
	if (h->is_lost)
		return true;
	index -= STATIC_ENTRIES + 1;
	if (index >= h->n)
		return false;
	e = &h->entries[(h->newest + HPACK_ENTRIES - index) % HPACK_ENTRIES];
	is->name = (enum hpack_name)e->name;
	is->name_len = e->name_len;
	is->value_len = e->value_len;
	if (e->text)
		memcpy(is->text, h->texts[e->text - 1], sizeof(is->text));
	return true;
}

/* Forgets the oldest until there is room for so much. */
static void make_room(struct hpack *h, uint32_t bytes)
{
	while (h->n && h->bytes + bytes > HPACK_TABLE_MAX - h->max_less) {
		const struct hpack_entry *e =
			&h->entries[(h->newest + HPACK_ENTRIES + 1u - h->n) % HPACK_ENTRIES];

		h->bytes -= ENTRY_BYTES + e->name_len + e->value_len;
		h->n--;
	}
}

/* A place for a text. Those that had it have none any more. */
static uint8_t keep_text(struct hpack *h, const char *text)
{
	h->last_text = (uint8_t)(h->last_text % HPACK_TEXTS + 1);
	for (uint32_t i = 0; i < HPACK_ENTRIES; i++)
		if (h->entries[i].text == h->last_text)
			h->entries[i].text = 0;
	memcpy(h->texts[h->last_text - 1], text, ROUTE_NAME_MAX);
	return h->last_text;
}

static void keep(struct hpack *h, const struct header *is)
{
	uint32_t bytes = ENTRY_BYTES + is->name_len + is->value_len;

	if (h->is_lost)
		return;
	make_room(h, bytes);
	if (bytes > HPACK_TABLE_MAX - h->max_less)
		return;
	h->newest = (uint16_t)((h->newest + 1) % HPACK_ENTRIES);
	h->entries[h->newest] =
		(struct hpack_entry) { is->name_len, is->value_len, (uint8_t)is->name, 0 };
	if (*is->text)
		h->entries[h->newest].text = keep_text(h, is->text);
	h->n++;
	h->bytes += bytes;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A header with its value (section 6.2); in its first byte so many bits are of its name's index. */
static bool take_literal(const struct hpack *h, struct bytes *b, unsigned int bits,
			 struct header *is)
{
	struct text text;
	uint32_t index;

	if (!take_number(b, bits, &index))
		return false;
	if (index) {
		if (!find_header(h, index, is))
			return false;
	} else {
		if (!take_string(b, &text))
			return false;
		*is = (struct header) { .name = name_of(&text), .name_len = (uint16_t)text.n };
	}
	if (!take_string(b, &text))
		return false;
	set_value(is, &text);
	return true;
}

static bool take_header(struct hpack *h, struct bytes *b, struct header *is)
{
	uint8_t first = peek(b);
	uint32_t number;

	if (first & 0x80)
		return take_number(b, 7, &number) && find_header(h, number, is);
	if (first & 0x40) {
		if (!take_literal(h, b, 6, is))
			return false;
		keep(h, is);
		return true;
	}
	if (!(first & 0x20))
		return take_literal(h, b, 4, is);
	*is = (struct header) { .name = HPACK_OTHER };
	if (!take_number(b, 5, &number) || number > HPACK_TABLE_MAX)
		return false;
	h->max_less = HPACK_TABLE_MAX - number;
	make_room(h, 0);
	return true;
}

bool route_hpack_decode(struct hpack *h, struct bytes block, struct hpack_asked *asked)
{
	struct header is;

	*asked = (struct hpack_asked) { .has_path = false };
	while (left(&block)) {
		if (!take_header(h, &block, &is)) {
			h->is_lost = true;
			return false;
		}
		if (is.name == HPACK_METHOD)
			memcpy(asked->method, is.text, sizeof(asked->method));
		else if (is.name == HPACK_PATH)
			memcpy(asked->path, is.text, sizeof(asked->path));
		asked->has_path |= is.name == HPACK_PATH;
		asked->is_grpc |= is.name == HPACK_CONTENT_TYPE && *is.text;
	}
	return true;
}
