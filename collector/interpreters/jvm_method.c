// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of methods, by the JVM's constant pools and symbols. */
#include "jvm_code_private.h"

#include <string.h>

#include "files/jvm_structs.h"

struct method {
	uint64_t constants, pool;
	uint16_t name;
};

static bool read_word(const struct jvm *j, uint64_t at, uint64_t *out)
{
	return jvm_read(j->memory, out, sizeof(*out), at);
}

static bool read_short(const struct jvm *j, uint64_t at, uint16_t *out)
{
	return jvm_read(j->memory, out, sizeof(*out), at);
}

/* Appends a symbol to text, which has room for `size` bytes with a terminator. */
static bool add_symbol(const struct jvm *j, uint64_t symbol, char *text, size_t size)
{
	size_t n = strlen(text), len;
	uint16_t bytes;

	if (!read_short(j, symbol + j->o.symbol_length, &bytes) || !bytes || n + 1 >= size)
		return false;
	len = bytes < size - n - 1 ? bytes : size - n - 1;
	if (!jvm_read(j->memory, text + n, len, symbol + j->o.symbol_body))
		return false;
	text[n + len] = '\0';
	for (char *p = text + n; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return strlen(text) == n + len;
}

/* The symbol that is entry i of a constant pool; 0: none. */
static uint64_t constant(const struct jvm *j, uint64_t pool, uint16_t i)
{
	uint64_t symbol;
	int32_t length;

	if (!i || !jvm_read(j->memory, &length, sizeof(length), pool + j->o.pool_length) ||
	    i >= length || !read_word(j, pool + j->o.pool_bytes + 8ull * i, &symbol))
		return 0;
	return symbol;
}

static bool read_method(const struct jvm *j, uint64_t method, struct method *m)
{
	return !(method & 7) && read_word(j, method + j->o.method_const, &m->constants) &&
	       !(m->constants & 7) && read_word(j, m->constants + j->o.const_pool, &m->pool) &&
	       !(m->pool & 7) && read_short(j, m->constants + j->o.const_name, &m->name);
}

uint64_t jvm_method_print(const struct jvm *j, uint64_t method)
{
	struct method m;

	return read_method(j, method, &m) ? jvm_mix(jvm_mix(m.constants, m.pool), m.name) | 1 : 0;
}

/* "java/util/Map" -> "java.util.Map"; without what the JVM appends to hidden classes. */
static void to_class(char *name)
{
	char *hidden = strstr(name, "+0x");

	if (hidden)
		*hidden = '\0';
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '.';
}

static void add_file(const struct jvm *j, const struct method *m, uint64_t klass,
		     struct jvm_frame *out)
{
	uint64_t at =
		j->o.pool_file != UINT64_MAX ? m->pool + j->o.pool_file : klass + j->o.class_file;
	uint16_t i;

	if (!read_short(j, at, &i) ||
	    !add_symbol(j, constant(j, m->pool, i), out->file, sizeof(out->file)))
		out->file[0] = '\0';
}

bool jvm_name_method(const struct jvm *j, uint64_t method, struct jvm_frame *out, uint64_t *print)
{
	uint64_t klass, symbol;
	struct method m;
	size_t n;

	memset(out, 0, sizeof(*out));
	*print = jvm_method_print(j, method);
	if (!*print || !read_method(j, method, &m) ||
	    !read_word(j, m.pool + j->o.pool_holder, &klass) ||
	    !read_word(j, klass + j->o.klass_name, &symbol) ||
	    !add_symbol(j, symbol, out->name, sizeof(out->name) / 2))
		return false;
	to_class(out->name);
	n = strlen(out->name);
	out->name[n++] = '.';
	out->name[n] = '\0';
	if (!add_symbol(j, constant(j, m.pool, m.name), out->name, sizeof(out->name)))
		return false;
	/* It was another one meanwhile. */
	if (jvm_method_print(j, method) != *print)
		return false;
	add_file(j, &m, klass, out);
	out->is_method = 1;
	return true;
}
