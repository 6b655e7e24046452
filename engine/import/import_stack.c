// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_stack.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "import_perf.h"
#include "import_scan.h"
#include "base/kernel_functions.h"

/* Bytes of different call chains that are remembered; above, all are forgotten. */
#define TEXTS_MAX (64u << 20)
/* Longer names are cut off. */
#define SYMBOL_MAX (16u << 10)
/* A tab, or what it was expanded to. */
#define INDENT 8
/* perf pads addresses to so many columns. */
#define ADDRESS_COLUMNS 16

/* A parsed line; the texts point into it. */
struct frame_text {
	uint64_t addr, offset;
	const char *symbol, *dso;
	size_t symbol_len, dso_len;
	bool inlined;
};

/* ---- a line -------------------------------------------------------------------------------- */

static const char *last_of(const char *p, size_t len, const char *text)
{
	struct scan s = { p, p + len };
	const char *last = NULL;

	while (scan_to(&s, text))
		last = s.p - strlen(text);
	return last;
}

/* +0xOFFSET at the end of [p, p + *len) is cut off. */
static bool cut_offset(const char *p, size_t *len, uint64_t *offset)
{
	const char *at = last_of(p, *len, "+0x");
	struct scan s = { at ? at + 3 : p, p + *len };
	uint64_t v;

	if (!at || !scan_hex(&s, &v) || s.p != s.end)
		return false;
	*offset = v;
	*len = (size_t)(at - p);
	return true;
}

/*
 * The parenthesis that belongs to the one at the end of [p, p + len), if it follows a space or
 * begins the text; else NULL.
 */
static const char *opened(const char *p, size_t len)
{
	int depth = 0;

	for (size_t i = len; i--;) {
		if (p[i] == ')')
			depth++;
		else if (p[i] == '(' && !--depth)
			return i && p[i - 1] == ' ' ? p + i : i ? NULL : p;
	}
	return NULL;
}

/* Behind SYMBOL+0xOFFSET a parenthesis opens the DSO, whose path may hold parentheses. */
static const char *find_dso(const char *p, size_t len)
{
	struct scan s = { p, p + len };
	uint64_t v;

	while (scan_to(&s, "+0x")) {
		struct scan behind = s;

		if (scan_hex(&behind, &v) && scan_text(&behind, " ("))
			return behind.p - 1;
	}
	return opened(p, len);
}

/* What follows the address: symbol, DSO, (inlined). */
static void read_names(const char *p, size_t len, struct frame_text *f)
{
	static const char inlined[] = "(inlined)";
	size_t n = sizeof(inlined) - 1;
	const char *dso;
	uint64_t ignored;

	while (len && (p[len - 1] == ' ' || p[len - 1] == '\r'))
		len--;
	if (len >= n && !memcmp(p + len - n, inlined, n)) {
		f->inlined = true;
		len -= n;
	} else if (len && p[len - 1] == ')' && (dso = find_dso(p, len))) {
		f->dso = dso + 1;
		f->dso_len = len - 1 - (size_t)(f->dso - p);
		if (f->dso_len > SYMBOL_MAX)
			f->dso_len = SYMBOL_MAX;
		(void)cut_offset(f->dso, &f->dso_len, &ignored); /* -F dsoff */
		len = (size_t)(dso - p);
	}
	while (len && p[len - 1] == ' ')
		len--;
	(void)cut_offset(p, &len, &f->offset);
	f->symbol = p;
	f->symbol_len = len < SYMBOL_MAX ? len : SYMBOL_MAX;
}

static bool text_is(const char *p, size_t len, const char *text)
{
	return strlen(text) == len && !memcmp(p, text, len);
}

/*
 * True if the line is a frame's: indented, and an address, which perf writes in 16 columns behind a
 * tab. Where an editor has made the tab shorter or trimmed the address, the DSO at the end tells.
 */
static bool read_line(const char *p, size_t len, struct frame_text *f)
{
	struct scan s = { p, p + len };
	size_t column = 0;
	const char *digits;

	for (; s.p < s.end && (*s.p == ' ' || *s.p == '\t'); s.p++)
		column = *s.p == '\t' ? (column / INDENT + 1) * INDENT : column + 1;
	*f = (struct frame_text) { .addr = 0 };
	digits = s.p;
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\r'))
		len--;
	if (!column || !scan_hex(&s, &f->addr) ||
	    (column < INDENT && column + (size_t)(s.p - digits) < ADDRESS_COLUMNS &&
	     p[len - 1] != ')'))
		return false;
	if (s.p < s.end && *s.p != ' ' && *s.p != '\r')
		return false;
	scan_spaces(&s);
	read_names(s.p, (size_t)(s.end - s.p), f);
	if (text_is(f->symbol, f->symbol_len, "[unknown]"))
		f->symbol_len = 0;
	if (f->dso && text_is(f->dso, f->dso_len, "[unknown]"))
		f->dso = NULL;
	return true;
}

bool import_stack_continues(const char *line, size_t len)
{
	struct import_event ev;

	if (!len || (line[0] != ' ' && line[0] != '|'))
		return false;
	import_perf_event(line, len, &ev);
	return ev.kind == IMPORT_NO_EVENT;
}

/* ---- a frame ------------------------------------------------------------------------------- */

static uint8_t class_of(const struct frame_text *f)
{
	/* In brackets, but no part of the kernel: names with these beginnings. */
	static const char *const not_kernel[] = { "[vdso",   "[vsyscall]", "[heap]",
						  "[stack",  "[anon",	   "[uprobes]",
						  "[guest.", "[vvar",	   "[vector" };
	char dso[32];

	if (f->inlined)
		return f->addr >> 63 ? IMPORT_FRAME_KERNEL : IMPORT_FRAME_INLINED;
	if (!f->dso)
		return f->addr >> 63 ? IMPORT_FRAME_KERNEL : IMPORT_FRAME_USER;
	if (*f->dso != '[')
		return f->addr >> 63 ? IMPORT_FRAME_KERNEL : IMPORT_FRAME_USER;
	snprintf(dso, sizeof(dso), "%.*s", (int)(f->dso_len < 31 ? f->dso_len : 31), f->dso);
	for (size_t i = 0; i < sizeof(not_kernel) / sizeof(not_kernel[0]); i++)
		if (!strncmp(dso, not_kernel[i], strlen(not_kernel[i])))
			return IMPORT_FRAME_USER;
	return IMPORT_FRAME_KERNEL;
}

/* The module with this path. They are numbered alike here and in the trace. */
static uint32_t known_module(struct import_stacks *s, uint32_t path)
{
	bool is_new;
	uint32_t id = xintern(&s->modules, &path, sizeof(path), &is_new);

	return is_new ? encoder_module(s->enc, path, NULL, 0) : id;
}

static uint32_t module_id(struct import_stacks *s, const struct frame_text *f)
{
	const char *p = f->dso;
	size_t len = f->dso_len;

	/* The kernel itself is no module; others in brackets are shown in brackets in any case. */
	if (!p || !len || text_is(p, len, "[kernel.kallsyms]") ||
	    text_is(p, len, "[kernel.vmlinux]") || text_is(p, len, "[kernel]"))
		return 0;
	if (len > 2 && p[0] == '[' && p[len - 1] == ']') {
		p++;
		len -= 2;
	}
	return known_module(s, encoder_string(s->enc, p, len));
}

/* Parses a line that is new. */
static struct import_frame new_frame(struct import_stacks *s, const char *p, size_t len)
{
	struct import_frame frame = { .class = IMPORT_FRAME_NONE };
	struct frame_text f;
	uint32_t space, symbol, module;
	char name[64];

	if (!read_line(p, len, &f))
		return frame;
	snprintf(name, sizeof(name), "%.*s", (int)(f.symbol_len < 63 ? f.symbol_len : 63),
		 f.symbol);
	frame.class = class_of(&f);
	frame.nameless = !*name;
	frame.flags = kernel_function_flags(name);
	space = frame.class != IMPORT_FRAME_KERNEL;
	/* A kernel frame's address 0 would mean that there is none. */
	frame.id = encoder_new_frame(s->enc, space, f.addr || space ? f.addr : UINT64_MAX);
	symbol = f.symbol_len ? encoder_string(s->enc, f.symbol, f.symbol_len) : 0;
	module = module_id(s, &f);
	if (symbol || module)
		encoder_name(s->enc, frame.id, symbol, module, f.offset);
	return frame;
}

static const struct import_frame *frame_of(struct import_stacks *s, const char *p, size_t len)
{
	bool is_new;
	uint32_t id = xintern(&s->lines, p, len, &is_new);

	if (is_new) {
		XGROW(s->seen, id - 1, s->cap_seen);
		s->seen[id - 1] = new_frame(s, p, len);
	}
	return &s->seen[id - 1];
}

/* ---- a call chain -------------------------------------------------------------------------- */

static int read_lines(struct import_stacks *s, const char *p, size_t len,
		      struct import_stack *stack)
{
	struct import_chain c;
	const char *end = p + len, *nl;
	uint32_t line = 0;

	import_chain_begin(&c);
	for (; p < end; p = nl + 1, line++) {
		const struct import_frame *f;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		f = frame_of(s, p, (size_t)(nl - p));
		if (f->class != IMPORT_FRAME_NONE)
			import_chain_add(&c, f);
		else if (*p == '\t' && !c.stack.bad_lines++)
			c.stack.first_bad = line;
	}
	c.stack.lines = line;
	import_chain_end(&c, s->enc);
	*stack = c.stack;
	s->any_kernel |= stack->kstack != 0;
	s->any_user |= stack->ustack != 0;
	return encoder_error(s->enc);
}

/* A place in guesses[], by who and a few bytes at offsets where call chains begin to differ. */
static uint32_t guess_place(uint32_t who, const char *p, size_t len)
{
	uint64_t h = who * 0x9e3779b97f4a7c15u, v;

	for (size_t at = 192; at + sizeof(v) <= len && at <= 384; at += 192) {
		memcpy(&v, p + at, sizeof(v));
		h = (h ^ v) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 32) % IMPORT_STACK_GUESSES;
}

size_t import_stack_guess(const struct import_stacks *s, uint32_t who, const char *p, size_t len,
			  struct import_stack *stack)
{
	uint32_t place = s->guesses[guess_place(who, p, len)];
	const char *key;
	size_t n;

	if (!place)
		return 0;
	key = intern_bytes(&s->texts, place, &n);
	if (n >= len || p[n] != '\n' || memcmp(p, key, n) != 0)
		return 0;
	*stack = s->known[place - 1];
	return n;
}

int import_stack_read(struct import_stacks *s, uint32_t who, const char *p, size_t len,
		      size_t len_there, struct import_stack *stack)
{
	uint32_t id;
	bool is_new;
	int err;

	if (s->texts.n_bytes > TEXTS_MAX) {
		intern_clear(&s->texts);
		memset(s->guesses, 0, sizeof(s->guesses));
	}
	id = xintern(&s->texts, p, len, &is_new);
	if (is_new) {
		XGROW(s->known, id - 1, s->cap_known);
		err = read_lines(s, p, len, &s->known[id - 1]);
		if (err)
			return err;
	}
	*stack = s->known[id - 1];
	/* A chain without a final newline is the text's last. */
	if (p[len - 1] == '\n')
		s->guesses[guess_place(who, p, len_there)] = id;
	return 0;
}

void import_stacks_free(struct import_stacks *s)
{
	intern_free(&s->texts);
	intern_free(&s->lines);
	intern_free(&s->modules);
	free(s->known);
	free(s->seen);
}
