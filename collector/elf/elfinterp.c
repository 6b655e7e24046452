// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfinterp.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <linux/types.h>

#include "chainwire.h"
#include "elfsym_private.h"
#include "elfv8.h"
#include "files/jvm_structs.h"

/* Python has 2 MB of them. */
#define CONSTANTS_MAX_BYTES (64u << 20)

/* How _PyRuntime begins if a table of offsets follows (_Py_Debug_Cookie in CPython). */
#define COOKIE "xdebugpy"

/* Py_Version, as PY_VERSION_HEX (patchlevel.h): at least a release candidate. */
#define VERSION_MAJOR(hex) ((hex) >> 24)
#define VERSION_MINOR(hex) ((hex) >> 16 & 0xff)
#define VERSION_IS_FINAL(hex) (((hex) >> 4 & 0xf) >= 0xc)

struct symbol {
	const char *name;
	uint64_t at, bytes; /* at 0: not found */
};

enum {
	PY_RUNTIME,
	PY_EVAL,
	PY_VERSION,
	PHP_GLOBALS,
	PHP_EVAL,
	RUBY_EVAL,
	RUBY_VERSION,
	JAVA_STRUCTS,
	JAVA_TYPES,
	SYMBOLS
};

static void take_symbol(void *symbols, const char *name, const GElf_Sym *sym)
{
	struct symbol *s = symbols;

	for (int i = 0; i < SYMBOLS; i++)
		if (!s[i].at && *name == *s[i].name && !strcmp(name, s[i].name)) {
			s[i].at = sym->st_value;
			s[i].bytes = sym->st_size;
		}
}

static bool has(const struct symbol *s, int state, int eval)
{
	return s[state].at && s[eval].at && s[eval].bytes;
}

/* ---- the version ---------------------------------------------------------------------------- */

/* The number at *p, of at most three digits; -1: there is none. *p: what follows it. */
static int take_number(const char **p, const char *end)
{
	int n = -1;

	for (int digits = 0; *p < end && isdigit((unsigned char)**p) && digits < 3; digits++)
		n = (n < 0 ? 0 : n) * 10 + (*(*p)++ - '0');
	return n;
}

/* The version in the text that follows a constant's beginning; 0: it is another constant. */
typedef uint32_t (*version_fn)(const char *p, const char *end);

/* sys.implementation.cache_tag: "cpython-310", and nothing after it. */
static uint32_t python_version(const char *p, const char *end)
{
	int minor = take_number(&p, end);

	return minor > 0 && p < end && !*p ? (uint32_t)minor : 0;
}

static uint32_t two_numbers(const char *p, const char *end)
{
	int major = take_number(&p, end), minor = -1;

	if (major > 0 && p < end && *p++ == '.')
		minor = take_number(&p, end);
	return minor >= 0 && major < 256 && minor < 256 ? (uint32_t)(major << 8 | minor) : 0;
}

static uint32_t find_version(struct elfsym *e, const char *begins, version_fn version)
{
	size_t len = 0, n = strlen(begins);
	const char *p = elfsym_section(e, ".rodata", CONSTANTS_MAX_BYTES, &len);
	const char *end = p ? p + len : NULL;

	while (p && (p = memmem(p, (size_t)(end - p), begins, n))) {
		uint32_t found = version(p += n, end);

		if (found)
			return found;
	}
	return 0;
}

/* ---- each language -------------------------------------------------------------------------- */

static void read_python(struct elfsym *e, const struct symbol *s, struct elfinterp *out)
{
	const void *hex_at = s[PY_VERSION].at ? elfsym_bytes(e, s[PY_VERSION].at, 4) : NULL;
	const void *offsets = elfsym_bytes(e, s[PY_RUNTIME].at, sizeof(out->offsets));
	uint32_t hex;

	if (hex_at) {
		memcpy(&hex, hex_at, sizeof(hex));
		if (VERSION_MAJOR(hex) == 3 && VERSION_IS_FINAL(hex))
			out->version = VERSION_MINOR(hex);
	} else if (!s[PY_VERSION].at) { /* before 3.11 */
		out->version = find_version(e, "cpython-3", python_version);
	}
	if (offsets && !memcmp(offsets, COOKIE, strlen(COOKIE)))
		memcpy(out->offsets, offsets, sizeof(out->offsets));
}

/* ruby_version: "3.1.2" */
static uint32_t ruby_version(struct elfsym *e, const struct symbol *s)
{
	size_t n = s->bytes < 16 ? s->bytes : 16;
	const char *text = s->at ? elfsym_bytes(e, s->at, n) : NULL;

	return text ? two_numbers(text, text + n) : 0;
}

static void set_places(struct elfinterp *out, uint32_t language, const struct symbol *state,
		       const struct symbol *eval)
{
	*out = (struct elfinterp) {
		.language = language,
		.state = state->at,
		.eval_start = eval->at,
		.eval_end = eval->at + eval->bytes,
	};
}

int elfinterp_find(struct elfsym *e, struct elfinterp *out)
{
	struct symbol s[SYMBOLS] = {
		[PY_RUNTIME].name = "_PyRuntime",     [PY_EVAL].name = "_PyEval_EvalFrameDefault",
		[PY_VERSION].name = "Py_Version",     [PHP_GLOBALS].name = "executor_globals",
		[PHP_EVAL].name = "execute_ex",	      [RUBY_EVAL].name = "rb_vm_exec",
		[RUBY_VERSION].name = "ruby_version", [JAVA_STRUCTS].name = JVM_STRUCTS,
		[JAVA_TYPES].name = JVM_TYPES,
	};
	uint64_t constants[ELFV8_CONSTANTS];
	struct elftls context;

	if (!elfsym_is_native(e))
		return -ENOENT;
	elfsym_each_symbol(e, SHT_DYNSYM, take_symbol, s);
	if (!has(s, PY_RUNTIME, PY_EVAL) && !has(s, PHP_GLOBALS, PHP_EVAL) && !s[RUBY_EVAL].at &&
	    !s[JAVA_STRUCTS].at)
		elfsym_each_symbol(e, SHT_SYMTAB, take_symbol, s);
	if (has(s, PY_RUNTIME, PY_EVAL)) {
		set_places(out, WIRE_PYTHON, &s[PY_RUNTIME], &s[PY_EVAL]);
		read_python(e, s, out);
	} else if (has(s, PHP_GLOBALS, PHP_EVAL)) {
		set_places(out, WIRE_PHP, &s[PHP_GLOBALS], &s[PHP_EVAL]);
		out->version = find_version(e, "X-Powered-By: PHP/", two_numbers);
	} else if (s[RUBY_EVAL].at && s[RUBY_EVAL].bytes &&
		   !elftls_find(e, "ruby_current_ec", &context)) {
		set_places(out, WIRE_RUBY, &(struct symbol) { 0 }, &s[RUBY_EVAL]);
		out->version = ruby_version(e, &s[RUBY_VERSION]);
		out->variable = context;
	} else if (s[JAVA_STRUCTS].at && s[JAVA_TYPES].at) {
		*out = (struct elfinterp) { .language = WIRE_JAVA, .state = s[JAVA_STRUCTS].at };
		out->offsets[0] = s[JAVA_TYPES].at;
	} else if (!elfv8_find(e, constants)) {
		*out = (struct elfinterp) { .language = WIRE_V8 };
		memcpy(out->offsets, constants, sizeof(constants));
	} else {
		return -ENOENT;
	}
	return 0;
}
