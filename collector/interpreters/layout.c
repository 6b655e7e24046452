// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <stddef.h>

#include "elf/elfv8.h"

/*
 * ---- CPython ------------------------------------------------------------------------------------
 * The offsets are those of the structs in its headers (Include/internal/pycore_*.h), on machines
 * with 64-bit pointers.
 */

#define OLD_FRAME /* PyFrameObject: one for each call of the evaluator */                          \
	.in_interpreter = 16, .current = 24, .code = 32, .previous = 24, .name = 112, .file = 104, \
	.first_line = 40, .lines = 120, .ascii = 48, .other = 72

/*
 * What is the same from one version to the next. root: of autoTSSkey; gil: of last_holder, both in
 * the runtime.
 */
static const struct wire_interpreter python[] = {
	[8] = { OLD_FRAME, .root = 1392, .gil = 1160, .instruction = 104 },
	[9] = { OLD_FRAME, .root = 584, .gil = 360, .instruction = 104 },
	[10] = { OLD_FRAME, .root = 584, .gil = 360, .instruction = 96 },
	[11] = {
		.root = 592,
		.gil = 368,
		.in_interpreter = 16,
		.thread_id = 160,
		.current = 56,
		.has_cframe = 1,
		.in_cframe = 8,
		.code = 32,
		.previous = 48,
		.instruction = 56,
		.entry = 68, /* is_entry */
		.entry_mask = 0xff,
		.entry_is = 1,
		.bytecode = 184,
		.name = 128,
		.file = 112,
		.first_line = 72,
		.lines = 136,
		.ascii = 48,
		.other = 72,
	},
	[12] = {
		.root = 1544,
		.gil_at = 1048,
		.in_interpreter = 16,
		.thread_id = 144,
		.current = 56,
		.has_cframe = 1,
		.code = 0,
		.previous = 8,
		.instruction = 56,
		.entry = 70, /* owner: FRAME_OWNED_BY_CSTACK */
		.entry_mask = 0xff,
		.entry_is = 3,
		.shim = 1,
		.bytecode = 192,
		.name = 128,
		.file = 112,
		.first_line = 68,
		.lines = 136,
		.ascii = 40,
		.other = 56,
	},
	/* The rest is in the runtime's own table. */
	[13] = { .root = 2160, .entry_mask = 0xff, .entry_is = 3, .shim = 1 },
};

/* The words of that table (struct _Py_DebugOffsets in 3.13). */
enum {
	VERSION = 1,
	FREE_THREADED,
	GIL_HOLDER = 18,
	THREAD_INTERPRETER = 22,
	THREAD_FRAME,
	THREAD_NATIVE_ID = 25,
	FRAME_PREVIOUS = 29,
	FRAME_CODE,
	FRAME_INSTRUCTION,
	FRAME_OWNER = 33,
	CODE_FILE = 35,
	CODE_NAME = 37, /* qualname */
	CODE_LINES,
	CODE_FIRST_LINE,
	CODE_BYTECODE = 43,
	BYTES_SIZE = 65,
	BYTES_DATA,
	TEXT_STATE = 68,
	TEXT_LENGTH,
	TEXT_ASCII,
};

_Static_assert(TEXT_ASCII < ELFINTERP_OFFSETS, "the table is read as far as it is used");

/* In a string that is not ASCII, the characters come after these: utf8_length, utf8. */
#define TEXT_OTHER_MORE 16

/* Of what the table tells of; strings are far smaller. */
#define STRUCT_MAX_BYTES (1u << 15)
#define TEXT_MAX_BYTES 256u

static bool take_offsets(const uint64_t *t, uint32_t version, struct wire_interpreter *out)
{
	if (t[VERSION] >> 16 != (3u << 8 | version) || t[FREE_THREADED] ||
	    t[BYTES_SIZE] != WIRE_LENGTH_AT || t[BYTES_DATA] != WIRE_BYTES_AT ||
	    t[TEXT_STATE] != WIRE_TEXT_STATE_AT || t[TEXT_LENGTH] != WIRE_LENGTH_AT)
		return false;
	/* Bounded before they are cut to 16 bits. */
	for (int i = GIL_HOLDER; i <= TEXT_ASCII; i++)
		if (t[i] >= STRUCT_MAX_BYTES)
			return false;
	out->gil_at = (uint32_t)t[GIL_HOLDER];
	out->in_interpreter = (uint16_t)t[THREAD_INTERPRETER];
	out->thread_id = (uint16_t)t[THREAD_NATIVE_ID];
	out->current = (uint16_t)t[THREAD_FRAME];
	out->code = (uint16_t)t[FRAME_CODE];
	out->previous = (uint16_t)t[FRAME_PREVIOUS];
	out->instruction = (uint16_t)t[FRAME_INSTRUCTION];
	out->entry = (uint16_t)t[FRAME_OWNER];
	out->bytecode = (uint16_t)t[CODE_BYTECODE];
	out->name = (uint16_t)t[CODE_NAME];
	out->file = (uint16_t)t[CODE_FILE];
	out->first_line = (uint16_t)t[CODE_FIRST_LINE];
	out->lines = (uint16_t)t[CODE_LINES];
	out->ascii = (uint16_t)t[TEXT_ASCII];
	out->other = (uint16_t)(t[TEXT_ASCII] + TEXT_OTHER_MORE);
	return true;
}

static bool find_python(const struct elfinterp *e, uint64_t bias, struct wire_interpreter *out)
{
	if (e->version >= sizeof(python) / sizeof(python[0]) || !python[e->version].root)
		return false;
	*out = python[e->version];
	if (!out->lines && !take_offsets(e->offsets, e->version, out))
		return false;
	out->root += e->state + bias;
	if (out->gil)
		out->gil += e->state + bias;
	return true;
}

/* ---- PHP ------------------------------------------------------------------------------------ */

static const struct wire_interpreter php_8_2 = {
	.root = 488, /* executor_globals.current_execute_data */
	/* zend_execute_data */
	.code = 24,
	.previous = 48,
	.instruction = 0,
	.entry = 42, /* ZEND_CALL_TOP in This.u1.type_info */
	.entry_mask = 2,
	.entry_is = 2,
	/* zend_op_array, zend_class_entry, zend_op, zend_string */
	.name = 8,
	.file = 152,
	.first_line = 160,
	.scope = 16,
	.in_scope = 8,
	.line = 24,
	.ascii = 24,
	/* Without a cache of compiled code, each request compiles anew. */
	.is_volatile = 1,
};

static bool find_php(const struct elfinterp *e, uint64_t bias, struct wire_interpreter *out)
{
	if (e->version != (8 << 8 | 2))
		return false;
	*out = php_8_2;
	out->root += e->state + bias;
	return true;
}

/* ---- Ruby ----------------------------------------------------------------------------------- */

/* What is the same in all versions: rb_control_frame_t, rb_iseq_t, rb_iseq_constant_body. */
#define RUBY                                                                                       \
	.instruction = 0, .code = 16, .entry = 32, .entry_mask = 0x20, .entry_is = 0x20,           \
	/* VM_FRAME_FLAG_FINISH */ .body = 16, .bytecode = 8, .file = 64, .scope = 72, .name = 80, \
	.first_line = 88, .line = 4

/* By the minor version of Ruby 3. .lines: insns_info; .stride: of a frame. */
static const struct wire_interpreter ruby[] = {
	[0] = { RUBY, .stride = 56, .lines = 120, .line_bytes = 8, .ascii = 16 },
	[1] = { RUBY, .stride = 64, .lines = 120, .line_bytes = 12, .ascii = 16,
		/* rb_thread_t, rb_ractor_t */
		.in_interpreter = 24, .thread_id = 88, .condition = 120, .unblock = 248,
		.gil_at = 336 },
	[2] = { RUBY, .stride = 64, .lines = 112, .line_bytes = 12,
		.ascii = WIRE_RUBY_WITH_LENGTH },
	[3] = { RUBY, .stride = 56, .lines = 112, .line_bytes = 12,
		.ascii = WIRE_RUBY_WITH_LENGTH },
	[4] = { RUBY, .stride = 56, .lines = 112, .line_bytes = 12,
		.ascii = WIRE_RUBY_WITH_LENGTH },
};

static bool find_ruby(const struct elfinterp *e, uint64_t bias, struct wire_interpreter *out)
{
	uint32_t minor = e->version & 0xff;

	if (e->version >> 8 != 3 || minor >= sizeof(ruby) / sizeof(ruby[0]))
		return false;
	*out = ruby[minor];
	out->variable = (struct wire_variable) { .tls = e->variable.tls,
						 .slot = e->variable.slot + bias,
						 .offset = e->variable.offset };
	return e->variable.tls < WIRE_TLS_MODULE;
}

/* ---- V8 ------------------------------------------------------------------------------------- */

/*
 * What is the same in all versions that are known: 10.2 and 11.3, of Node.js 18 and 20. By enum
 * elfv8_constant, up to the types, which differ.
 */
static const int64_t v8_constants[ELFV8_TYPE_SHARED] = {
	[ELFV8_FRAME_FUNCTION] = -8 * (int)WIRE_V8_FUNCTION,
	[ELFV8_FRAME_CONTEXT] = -8 * (int)WIRE_V8_CONTEXT,
	[ELFV8_FRAME_BYTECODES] = -8 * (int)WIRE_V8_BYTECODES,
	[ELFV8_FRAME_OFFSET] = -8 * (int)WIRE_V8_OFFSET,
	[ELFV8_TAG] = WIRE_V8_TAG,
	[ELFV8_TAGS] = WIRE_V8_TAGS,
	[ELFV8_SMI_SHIFT] = 31, /* and one bit: a number is in the upper half of its word */
	[ELFV8_WORD] = 8,
	[ELFV8_FUNCTION_SHARED] = WIRE_V8_IN_FUNCTION,
	[ELFV8_MAP_TYPE] = WIRE_V8_TYPE_AT,
	[ELFV8_SHARED_NAME] = WIRE_V8_NAME,
	[ELFV8_SHARED_SCRIPT] = WIRE_V8_SCRIPT,
	[ELFV8_SCRIPT_SOURCE] = WIRE_V8_SCRIPT_SOURCE,
	[ELFV8_SCRIPT_NAME] = WIRE_V8_SCRIPT_NAME,
	[ELFV8_SCRIPT_LINE_ENDS] = WIRE_V8_SCRIPT_ID - 8,
	[ELFV8_SCOPE_LOCALS] = WIRE_V8_SCOPE_LOCALS / 8 - 1,
	[ELFV8_SCOPE_REST] = WIRE_V8_SCOPE_REST / 8 - 1,
	[ELFV8_STRING_LENGTH] = WIRE_V8_LENGTH + 4,
	[ELFV8_STRING_CHARS] = WIRE_V8_CHARS,
	[ELFV8_STRINGS] = WIRE_V8_STRINGS,
	[ELFV8_STRING_KIND] = WIRE_V8_STRING_KIND,
	[ELFV8_ONE_BYTE] = WIRE_V8_ONE_BYTE,
	[ELFV8_CONS] = WIRE_V8_CONS,
	[ELFV8_EXTERNAL] = WIRE_V8_EXTERNAL,
	[ELFV8_SLICED] = WIRE_V8_SLICED,
	[ELFV8_THIN] = WIRE_V8_THIN,
};

_Static_assert(ELFV8_CONSTANTS <= ELFINTERP_OFFSETS, "they have room");

static bool find_v8(const struct elfinterp *e, struct wire_interpreter *out)
{
	for (int i = 0; i < ELFV8_TYPE_SHARED; i++)
		if ((int64_t)e->offsets[i] != v8_constants[i])
			return false;
	for (int i = ELFV8_TYPE_SHARED; i < ELFV8_CONSTANTS; i++)
		if (e->offsets[i] < WIRE_V8_STRINGS || e->offsets[i] > UINT16_MAX)
			return false;
	*out = (struct wire_interpreter) {
		.language = WIRE_V8,
		.v8 = {
			.shared = (uint16_t)e->offsets[ELFV8_TYPE_SHARED],
			.scope = (uint16_t)e->offsets[ELFV8_TYPE_SCOPE],
			.script = (uint16_t)e->offsets[ELFV8_TYPE_SCRIPT],
			.bytecodes = (uint16_t)e->offsets[ELFV8_TYPE_BYTECODES],
		},
	};
	return true;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The end of the last of n words at these offsets. */
static uint16_t end_of(const uint16_t *at, size_t n)
{
	uint16_t end = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i] >= end)
			end = at[i];
	return (uint16_t)(end + 8);
}

/* How much is read of frames and of code objects; false: more than may be. */
static bool bound(struct wire_interpreter *i)
{
	const uint16_t in_frame[] = { i->code, i->previous, i->instruction, i->entry };
	const uint16_t in_code[] = { i->name, i->file, i->first_line, i->lines, i->scope };

	i->frame_bytes = end_of(in_frame, sizeof(in_frame) / sizeof(in_frame[0]));
	i->code_bytes = end_of(in_code, sizeof(in_code) / sizeof(in_code[0]));
	if (i->stride) /* with what is behind its lines */
		i->code_bytes = (uint16_t)(i->lines + WIRE_RUBY_LINES_TABLE + 8);
	return i->frame_bytes <= WIRE_CODE_FRAME_BYTES && i->code_bytes <= WIRE_CODE_BYTES &&
	       i->bytecode <= WIRE_CODE_BYTES && i->eval_start < i->eval_end &&
	       i->ascii <= TEXT_MAX_BYTES && i->other <= TEXT_MAX_BYTES;
}

bool layout_find(const struct elfinterp *e, uint64_t bias, struct wire_interpreter *out)
{
	bool found = false;

	/* It has no evaluator, and no frames and code objects of its own shape. */
	if (e->language == WIRE_V8)
		return find_v8(e, out);
	if (e->language == WIRE_JAVA) {
		*out = (struct wire_interpreter) { .language = WIRE_JAVA,
						   .root = e->state + bias,
						   .gil = e->offsets[0] + bias };
		return true;
	}
	if (e->language == WIRE_PYTHON)
		found = find_python(e, bias, out);
	else if (e->language == WIRE_PHP)
		found = find_php(e, bias, out);
	else if (e->language == WIRE_RUBY)
		found = find_ruby(e, bias, out);
	if (!found)
		return false;
	out->language = e->language;
	out->version = e->version;
	out->eval_start = e->eval_start + bias;
	out->eval_end = e->eval_end + bias;
	return bound(out);
}
