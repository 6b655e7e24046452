// SPDX-License-Identifier: GPL-2.0-or-later
#include "jvm_code_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/jvm_structs.h"

/* Heaps of code; a JVM has three. */
#define HEAPS_MAX 8u
/* From a segment to the first one of its block. */
#define HOPS_MAX 4096u
#define SEGMENT_FREE 0xff
/* Frames are smaller. */
#define FRAME_WORDS_MAX (1u << 16)
/* A loop is entered in its middle: there the frame is made within so many bytes. */
#define OSR_ENTRY_BYTES 64u
/* The states of compiled code that are not its end: it is installed, used, not entered any more. */
#define STATE_LIVES_MAX 2
/* Changes are looked for in so many places at a time. */
#define LOOK_AT_MAX 512u
/* How long the name of a kind of code is that matters. */
#define KIND_BYTES 48u

/* Bytecodes after which there may be no frame of the method any more, or of which not all is known.
 */
#define BYTECODE_RETURN_FIRST 172
#define BYTECODE_RETURN_LAST 177
#define BYTECODE_BREAKPOINT 202
#define BYTECODE_FAST_LAST 231

static const struct jvm_rule cut = { .kind = JVM_CUT };

/* ---- the JVM -------------------------------------------------------------------------------- */

/* How many of what is wanted below, at its end, need not be there. */
#define OPTIONAL 13u

/* Later ones write numbers otherwise, also those of lines. */
#define SCOPES_VERSION_FIRST 11
#define SCOPES_VERSION_LAST 17

static bool is_offset(uint64_t o)
{
	return o < JVM_STRUCT_BYTES - 8;
}

static void find_optional(struct jvm *j)
{
	const struct jvm_offsets *o = &j->o;
	int32_t version;

	j->tells_given_up = is_offset(o->code_given_up) && is_offset(o->code_given_up_mh) &&
			    is_offset(o->code_pc_at);
	if (o->version == UINT64_MAX ||
	    !jvm_read(j->memory, &version, sizeof(version), o->version) ||
	    version < SCOPES_VERSION_FIRST || version > SCOPES_VERSION_LAST)
		return;
	j->has_scopes = is_offset(o->scopes_data) && is_offset(o->scopes_places) &&
			is_offset(o->scopes_places_end) && is_offset(o->scopes_metadata);
	j->has_lines = is_offset(o->const_bytes) && is_offset(o->const_code_size) &&
		       is_offset(o->const_flags);
}

static bool find_offsets(struct jvm *j, uint64_t structs, uint64_t types)
{
	struct jvm_offsets *o = &j->o;
	const struct jvm_wanted wanted[] = {
		{ "CodeCache", "_heaps", &o->heaps },
		{ "GrowableArrayBase", "_len", &o->array_len },
		{ "GrowableArray<int>", "_data", &o->array_data },
		{ "CodeHeap", "_memory", &o->heap_memory },
		{ "CodeHeap", "_segmap", &o->heap_segmap },
		{ "CodeHeap", "_log2_segment_size", &o->heap_shift },
		{ "VirtualSpace", "_low", &o->space_low },
		{ "VirtualSpace", "_high", &o->space_high },
		{ "HeapBlock", NULL, &o->block_bytes },
		{ "HeapBlock::Header", "_used", &o->block_used },
		{ "CodeBlob", "_name", &o->blob_name },
		{ "CodeBlob", "_frame_complete_offset", &o->blob_complete },
		{ "CodeBlob", "_frame_size", &o->blob_frame },
		{ "CodeBlob", "_code_begin", &o->blob_begin },
		{ "CodeBlob", "_code_end", &o->blob_end },
		{ "CompiledMethod", "_method", &o->code_method },
		{ "nmethod", "_compile_id", &o->code_id },
		{ "nmethod", "_state", &o->code_state },
		{ "nmethod", "_verified_entry_point", &o->code_entry },
		{ "nmethod", "_osr_entry_point", &o->code_osr_entry },
		{ "nmethod", "_entry_bci", &o->code_bci },
		{ "AbstractInterpreter", "_code", &o->interpreter },
		{ "StubQueue", "_stub_buffer", &o->queue_buffer },
		{ "StubQueue", "_buffer_limit", &o->queue_limit },
		{ "InterpreterCodelet", "_size", &o->codelet_size },
		{ "InterpreterCodelet", "_bytecode", &o->codelet_bytecode },
		{ "StubRoutines", "_call_stub_return_address", &o->call_stub },
		{ "Method", "_constMethod", &o->method_const },
		{ "ConstMethod", "_constants", &o->const_pool },
		{ "ConstMethod", "_name_index", &o->const_name },
		{ "ConstantPool", "_pool_holder", &o->pool_holder },
		{ "ConstantPool", "_length", &o->pool_length },
		{ "ConstantPool", NULL, &o->pool_bytes },
		{ "Klass", "_name", &o->klass_name },
		{ "Symbol", "_length", &o->symbol_length },
		{ "Symbol", "_body", &o->symbol_body },
		/* What a JVM may not have. */
		{ "Abstract_VM_Version", "_vm_major_version", &o->version },
		{ "CompiledMethod", "_scopes_data_begin", &o->scopes_data },
		{ "nmethod", "_scopes_pcs_offset", &o->scopes_places },
		{ "nmethod", "_dependencies_offset", &o->scopes_places_end },
		{ "nmethod", "_metadata_offset", &o->scopes_metadata },
		{ "ConstMethod", NULL, &o->const_bytes },
		{ "ConstMethod", "_code_size", &o->const_code_size },
		{ "ConstMethod", "_flags", &o->const_flags },
		{ "CompiledMethod", "_deopt_handler_begin", &o->code_given_up },
		{ "CompiledMethod", "_deopt_mh_handler_begin", &o->code_given_up_mh },
		{ "nmethod", "_orig_pc_offset", &o->code_pc_at },
		/* Not both. */
		{ "ConstantPool", "_source_file_name_index", &o->pool_file },
		{ "InstanceKlass", "_source_file_name_index", &o->class_file },
	};
	size_t n = sizeof(wanted) / sizeof(wanted[0]);

	memset(o, 0xff, sizeof(*o));
	if (!jvm_find(j->memory, structs, types, wanted, n))
		return false;
	for (size_t i = 0; i + OPTIONAL < n; i++) {
		bool is_address = wanted[i].out == &o->heaps || wanted[i].out == &o->interpreter ||
				  wanted[i].out == &o->call_stub;

		if (*wanted[i].out == UINT64_MAX ||
		    (!is_address && *wanted[i].out > JVM_STRUCT_BYTES - sizeof(uint64_t)))
			return false;
	}
	find_optional(j);
	return o->pool_file < JVM_STRUCT_BYTES || o->class_file < JVM_STRUCT_BYTES;
}

static bool read_word(const struct jvm *j, uint64_t at, uint64_t *out)
{
	return jvm_read(j->memory, out, sizeof(*out), at);
}

static bool read_int(const struct jvm *j, uint64_t at, int32_t *out)
{
	return jvm_read(j->memory, out, sizeof(*out), at);
}

/* The interpreter's code is a row of pieces, most of them for one bytecode. */
static bool find_interpreter(struct jvm *j)
{
	const struct jvm_offsets *o = &j->o;
	uint64_t queue, at;
	int32_t limit, size, bytecode;

	if (!read_word(j, o->interpreter, &queue) ||
	    !read_word(j, queue + o->queue_buffer, &j->interpreter) ||
	    !read_int(j, queue + o->queue_limit, &limit) || limit <= 0)
		return false;
	j->interpreter_end = j->interpreter + (uint32_t)limit;
	for (at = j->interpreter; at < j->interpreter_end && j->n_codelets < JVM_CODELETS_MAX;
	     at += (uint32_t)size) {
		if (!read_int(j, at + o->codelet_size, &size) || size <= 0 ||
		    !read_int(j, at + o->codelet_bytecode, &bytecode))
			break;
		j->codelets[j->n_codelets++] =
			(struct jvm_codelet) { at + (uint32_t)size, bytecode };
	}
	return j->n_codelets;
}

int jvm_open(struct jvm **out, int memory, uint64_t structs, uint64_t types)
{
	struct jvm *j = *out = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->memory = memory;
	if (find_offsets(j, structs, types))
		return 0;
	free(j);
	*out = NULL;
	return -ENOENT;
}

static bool is_ready(struct jvm *j)
{
	if (!j->n_codelets && !find_interpreter(j))
		return false;
	return j->call_stub || (read_word(j, j->o.call_stub, &j->call_stub) && j->call_stub);
}

/* ---- blocks of the code heaps ---------------------------------------------------------------- */

/* A piece of code with its descriptions. */
struct blob {
	uint64_t at, block;
	uint64_t begin, end; /* of its code */
	uint64_t method, name;
	uint64_t entry, osr_entry;
	int32_t complete, frame_words, id, bci;
	bool is_used, is_dying;
	char kind[KIND_BYTES];
	uint8_t raw[2 * JVM_STRUCT_BYTES];
};

static uint64_t word_at(const struct blob *b, uint64_t offset)
{
	uint64_t v;

	memcpy(&v, b->raw + offset, sizeof(v));
	return v;
}

static int32_t int_at(const struct blob *b, uint64_t offset)
{
	return (int32_t)word_at(b, offset);
}

static bool is_compiled(const struct blob *b)
{
	return !strcmp(b->kind, "nmethod") || !strcmp(b->kind, "native nmethod");
}

/* Reads the blob of a block. */
static bool read_blob(const struct jvm *j, uint64_t block, struct blob *b)
{
	const struct jvm_offsets *o = &j->o;
	uint64_t h = o->block_bytes;
	ssize_t kept = sizeof(b->kind) - 1;

	memset(b, 0, sizeof(*b));
	/* A small one may end before. */
	if (!jvm_read(j->memory, b->raw, h + JVM_STRUCT_BYTES, block) &&
	    !jvm_read(j->memory, b->raw, h + JVM_STRUCT_BYTES / 4, block))
		return false;
	b->block = block;
	b->at = block + h;
	b->is_used = b->raw[o->block_used];
	b->name = word_at(b, h + o->blob_name);
	b->begin = word_at(b, h + o->blob_begin);
	b->end = word_at(b, h + o->blob_end);
	b->complete = int_at(b, h + o->blob_complete);
	b->frame_words = int_at(b, h + o->blob_frame);
	while (kept && !jvm_read(j->memory, b->kind, (size_t)kept, b->name))
		kept /= 2;
	if (!is_compiled(b))
		return true;
	b->method = word_at(b, h + o->code_method);
	b->entry = word_at(b, h + o->code_entry);
	b->osr_entry = word_at(b, h + o->code_osr_entry);
	b->id = int_at(b, h + o->code_id);
	b->bci = int_at(b, h + o->code_bci);
	b->is_dying = (int8_t)b->raw[h + o->code_state] > STATE_LIVES_MAX;
	return true;
}

/* What tells it from what is there later. */
static uint64_t print_of(const struct blob *b)
{
	uint64_t h = jvm_mix(b->is_used + 2u * b->is_dying, b->name);

	h = jvm_mix(jvm_mix(h, b->begin), b->end);
	h = jvm_mix(jvm_mix(h, b->method), (uint32_t)b->id);
	return jvm_mix(h, (uint32_t)b->frame_words) | 1;
}

/* The first segment of the block with that segment, by the map that says how far it is. */
static bool find_first(const struct jvm *j, uint64_t map, uint64_t *segment)
{
	uint8_t back;

	for (uint32_t i = 0; i < HOPS_MAX; i++) {
		if (!jvm_read(j->memory, &back, 1, map + *segment) || back == SEGMENT_FREE ||
		    back > *segment)
			return false;
		if (!back)
			return true;
		*segment -= back;
	}
	return false;
}

/* The block of a heap that has the address; 0: none. */
static uint64_t block_in(const struct jvm *j, uint64_t heap, uint64_t at)
{
	const struct jvm_offsets *o = &j->o;
	uint64_t low, high, map, segment;
	int32_t shift;

	if (!read_word(j, heap + o->heap_memory + o->space_low, &low) ||
	    !read_word(j, heap + o->heap_memory + o->space_high, &high) || at < low || at >= high ||
	    !read_word(j, heap + o->heap_segmap + o->space_low, &map) ||
	    !read_int(j, heap + o->heap_shift, &shift) || shift < 4 || shift > 16)
		return 0;
	segment = (at - low) >> shift;
	return find_first(j, map, &segment) ? low + (segment << shift) : 0;
}

static bool find_blob(const struct jvm *j, uint64_t at, struct blob *b)
{
	const struct jvm_offsets *o = &j->o;
	uint64_t array, data, heap, block = 0;
	int32_t n;

	if (!read_word(j, o->heaps, &array) || !read_int(j, array + o->array_len, &n) ||
	    !read_word(j, array + o->array_data, &data))
		return false;
	for (int32_t i = 0; i < n && i < (int32_t)HEAPS_MAX && !block; i++)
		if (read_word(j, data + 8ull * (uint32_t)i, &heap))
			block = block_in(j, heap, at);
	return block && read_blob(j, block, b) && b->is_used && !b->is_dying && at >= b->begin &&
	       at < b->end;
}

/* ---- what is watched ------------------------------------------------------------------------- */

static bool is_same(const struct jvm *j, const struct jvm_watched *w)
{
	struct blob b;

	if (w->is_method)
		return jvm_method_print(j, w->at) == w->print;
	return read_blob(j, w->at, &b) && print_of(&b) == w->print;
}

/* Remembers what is there. */
static void watch(struct jvm *j, uint64_t at, bool is_method, uint64_t print)
{
	uint32_t i = (uint32_t)(jvm_mix(0, at) % JVM_WATCHED_MAX);

	while (j->watched[i].at && j->watched[i].at != at)
		i = (i + 1) % JVM_WATCHED_MAX;
	/* Full: what was found is found anew. */
	if (!j->watched[i].at && j->n_watched++ == JVM_WATCHED_MAX * 3 / 4)
		j->is_lost = true;
	/* It is another one than when it was found first. */
	if (j->watched[i].at && j->watched[i].print != print)
		j->is_lost = true;
	if (!j->is_lost)
		j->watched[i] = (struct jvm_watched) { at, print, is_method };
}

static bool find_method(struct jvm *j, uint64_t method, int32_t bci, struct jvm_frame *out)
{
	uint64_t print;

	if (!jvm_name_method(j, method, out, &print))
		return false;
	out->line = jvm_method_line(j, method, bci);
	watch(j, method, true, print);
	return true;
}

bool jvm_find_method(struct jvm *j, uint64_t method, uint32_t bytecode, struct jvm_frame *out)
{
	return find_method(j, method, jvm_method_bci(j, method, bytecode), out);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static struct jvm_rule by_register(enum jvm_rule_kind kind, int32_t bytes, bool saves_fp)
{
	return (struct jvm_rule) { (uint32_t)kind, bytes, saves_fp, 0 };
}

/* Where the caller's frame is when the frame is whole. */
static struct jvm_rule whole_rule(const struct blob *b)
{
	if (b->frame_words < 2 || b->frame_words > (int32_t)FRAME_WORDS_MAX)
		return cut;
	return by_register(JVM_BY_SP, b->frame_words * 8, true);
}

/* Whether a frame that returns there had its code given up: it has another return address. */
static bool is_given_up(const struct jvm *j, const struct blob *b, uint64_t at)
{
	uint64_t h = j->o.block_bytes;

	return j->tells_given_up && !strcmp(b->kind, "nmethod") &&
	       (at == word_at(b, h + j->o.code_given_up) ||
		at == word_at(b, h + j->o.code_given_up_mh));
}

static struct jvm_rule given_up_rule(const struct jvm *j, const struct blob *b)
{
	int32_t pc_at = int_at(b, j->o.block_bytes + j->o.code_pc_at);
	struct jvm_rule r = whole_rule(b);

	if (r.kind == JVM_CUT || pc_at < 0 || pc_at > r.bytes - 8)
		return cut;
	r.kind = JVM_GIVEN_UP;
	r.pc_at = (uint32_t)pc_at;
	return r;
}

/* Instructions around the one at `at`. */
#define BEFORE 8u
struct code {
	uint8_t bytes[BEFORE + 16];
	const uint8_t *at;
};

static bool begins(const uint8_t *p, const char *bytes, size_t n)
{
	return !memcmp(p, bytes, n);
}

#define BEGINS(p, bytes) begins(p, bytes, sizeof(bytes) - 1)
#define POP_FP 0x5d
#define RET 0xc3
#define JMP 0xe9
#define POLL "\x49\x3b\xa7" /* cmp offset(%r15),%rsp, before returning */
#define POLL_BYTES 7u
#define POLL_FAILS "\x0f\x87"	  /* ja */
#define AFTER_POLL "\x4c\x8d\x15" /* lea offset(%rip),%r10: where the poll was */
#define SAVE_POLL "\x4d\x89\x97"  /* mov %r10,offset(%r15) */

static bool is_end(const uint8_t *p)
{
	return *p == RET || *p == JMP || BEGINS(p, POLL);
}

/* Whether that instruction runs after the frame was given up, with the return address at sp. */
static bool is_after_frame(const struct code *c)
{
	const uint8_t *p = c->at;

	return *p == RET || BEGINS(p, POLL) ||
	       (BEGINS(p, POLL_FAILS) && BEGINS(p - POLL_BYTES, POLL)) ||
	       (BEGINS(p, AFTER_POLL) && BEGINS(p + 7, SAVE_POLL)) ||
	       (BEGINS(p, SAVE_POLL) && BEGINS(p - 7, AFTER_POLL)) ||
	       (*p == JMP && (p[-1] == POP_FP || BEGINS(p - 7, SAVE_POLL)));
}

/* Of an instruction of compiled code that was interrupted. */
static struct jvm_rule exact_rule(const struct jvm *j, const struct blob *b, uint64_t at)
{
	struct code c = { .at = c.bytes + BEFORE };

	if (!b->method || strcmp(b->kind, "nmethod") != 0 || b->complete <= 0)
		return cut;
	if (b->bci >= 0 && at >= b->osr_entry && at - b->osr_entry < OSR_ENTRY_BYTES)
		return cut;
	/* A call goes to the beginning, or where the class of the object was checked. */
	if (at <= b->entry)
		return by_register(JVM_BY_SP, 8, false);
	if (at < b->begin + (uint32_t)b->complete)
		return cut;
	if (!jvm_read(j->memory, c.bytes, sizeof(c.bytes), at - BEFORE))
		return cut;
	if (*c.at == POP_FP)
		return is_end(c.at + 1) ? by_register(JVM_BY_SP, 16, true) : cut;
	if (is_after_frame(&c))
		return by_register(JVM_BY_SP, 8, false);
	if (c.at[-1] == POP_FP)
		return cut;
	return whole_rule(b);
}

static struct jvm_rule rule_of(const struct jvm *j, const struct blob *b, uint64_t at,
			       bool is_exact)
{
	if (!strcmp(b->kind, "DeoptimizationBlob") || !strcmp(b->kind, "UncommonTrapBlob"))
		return cut;
	if (is_exact)
		return exact_rule(j, b, at);
	/* The function by which the JVM calls Java, and those by which Java calls native ones. */
	if (at + 1 == j->call_stub || !strcmp(b->kind, "native nmethod"))
		return by_register(JVM_BY_FP, 16, true);
	if (is_given_up(j, b, at + 1))
		return given_up_rule(j, b);
	return whole_rule(b);
}

/* The leaf is in a frame of the interpreter if it runs a bytecode, other than at its method's end.
 */
static bool has_frame(const struct jvm *j, uint64_t at)
{
	uint32_t i = 0;
	int32_t bytecode;

	while (i < j->n_codelets && at >= j->codelets[i].end)
		i++;
	if (i == j->n_codelets)
		return false;
	bytecode = j->codelets[i].bytecode;
	return bytecode >= 0 && bytecode != BYTECODE_BREAKPOINT && bytecode <= BYTECODE_FAST_LAST &&
	       (bytecode < BYTECODE_RETURN_FIRST || bytecode > BYTECODE_RETURN_LAST);
}

/* The methods at a call that returns to at + 1; returns how many. */
static uint32_t find_scopes(const struct jvm *j, const struct blob *b, uint64_t at, bool is_exact,
			    struct jvm_scope *out)
{
	struct jvm_scopes s = { .method = b->method, .offset = (int32_t)(at + 1 - b->begin) };
	uint64_t h = j->o.block_bytes;
	uint32_t n = 0;

	if (j->has_scopes && !is_exact && !strcmp(b->kind, "nmethod")) {
		s.scopes = word_at(b, h + j->o.scopes_data);
		s.places = b->at + (uint32_t)int_at(b, h + j->o.scopes_places);
		s.places_end = b->at + (uint32_t)int_at(b, h + j->o.scopes_places_end);
		s.metadata = b->at + (uint32_t)int_at(b, h + j->o.scopes_metadata);
		n = jvm_scopes_find(j, &s, out);
	}
	if (!n)
		out[n++] = (struct jvm_scope) { b->method, JVM_BCI_UNKNOWN };
	return n;
}

static uint32_t name_compiled(struct jvm *j, const struct blob *b, uint64_t at, bool is_exact,
			      struct jvm_frame *out)
{
	struct jvm_scope scopes[JVM_SCOPES_MAX];
	uint32_t n = find_scopes(j, b, at, is_exact, scopes);
	uint32_t named = n > JVM_DEPTH ? JVM_DEPTH - 1 : n;

	n = n > JVM_DEPTH ? JVM_DEPTH : n;
	memset(out, 0, n * sizeof(*out));
	for (uint32_t i = 0; i < named; i++)
		(void)find_method(j, scopes[i].method, scopes[i].bci, &out[i]);
	return n;
}

int jvm_find_frame(struct jvm *j, uint64_t at, bool is_exact, struct jvm_frame *out, uint32_t *n)
{
	struct blob b;

	*n = 1;
	memset(out, 0, sizeof(*out));
	out->rule = cut;
	if (!is_ready(j))
		return -EAGAIN;
	if (at >= j->interpreter && at < j->interpreter_end) {
		strcpy(out->name, "Interpreter");
		if (!is_exact || has_frame(j, at))
			out->rule.kind = JVM_INTERPRETED;
		return 0;
	}
	if (!find_blob(j, at, &b))
		return -ENOENT;
	watch(j, b.block, false, print_of(&b));
	if (b.method)
		*n = name_compiled(j, &b, at, is_exact, out);
	else
		memcpy(out->name, b.kind, sizeof(b.kind));
	out->rule = rule_of(j, &b, at, is_exact);
	/* What was read is of one piece of code. */
	return is_same(j, &(struct jvm_watched) { b.block, print_of(&b), false }) ? 0 : -EAGAIN;
}

/* ---- changes --------------------------------------------------------------------------------- */

bool jvm_has_changed(struct jvm *j)
{
	bool has_changed = j->is_lost;

	for (uint32_t looked = 0, i = 0; i < JVM_WATCHED_MAX && looked < LOOK_AT_MAX; i++) {
		const struct jvm_watched *w = &j->watched[j->next_watched++ % JVM_WATCHED_MAX];

		looked += w->at != 0;
		has_changed |= w->at && !is_same(j, w);
	}
	if (!has_changed)
		return false;
	memset(j->watched, 0, sizeof(j->watched));
	j->n_watched = 0;
	j->is_lost = false;
	return true;
}
