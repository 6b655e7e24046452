/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_up_jvm.h - the structs of a JVM as it describes them for debuggers (files/jvm_structs.h), in
 * an order of our own: for the test of who reads them, and for a program that lies in them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SEGMENT 128u
#define HEAP_BYTES 8192u

/* The JVM's structs, in an order of our own. */
struct symbol {
	uint32_t hash;
	uint16_t length;
	char body[58];
};

struct klass {
	uint64_t pad[3];
	struct symbol *name;
};

struct pool {
	struct klass *holder;
	uint32_t length;
	uint16_t file;
	struct symbol *entries[4];
};

struct const_method {
	struct pool *constants;
	uint64_t pad;
	uint16_t name, code_size, flags;
	uint8_t code[48]; /* bytecodes, and the table of lines */
};

struct method {
	uint64_t pad;
	struct const_method *constant;
};

struct block {
	uint64_t length, used;
};

struct blob {
	uint64_t pad;
	const char *name;
	int32_t complete, frame;
	uint8_t *begin, *end;
	struct method *method;
	uint8_t *entry, *osr_entry;
	int32_t id, bci;
	uint8_t *scopes;
	int32_t places, places_end, metadata;
	int32_t pc_at;
	uint8_t *given_up, *given_up_mh;
	int8_t state;
	uint8_t rest[512];
};

struct space {
	uint8_t *low, *high;
};

struct heap {
	struct space memory, segmap;
	int32_t shift;
};

struct codelet {
	uint64_t pad;
	int32_t size, bytecode;
	uint8_t code[48];
};

struct queue {
	struct codelet *buffer;
	int32_t limit;
};

struct array {
	int32_t len;
	struct heap **data;
};

static struct symbol class_name, method_name, file_name;
static struct klass klass;
static struct pool pool;
static struct const_method const_method;
static struct method method;
static struct heap heap, *heaps[1];
static struct array array, *array_at;
static struct codelet codelets[3] __attribute__((aligned(4096)));
static struct queue queue, *queue_at;
static uint8_t *call_stub;
static int32_t version;
static uint8_t code_heap[HEAP_BYTES] __attribute__((aligned(4096)));
static uint8_t segmap[HEAP_BYTES / SEGMENT];

static struct struct_entry {
	const char *type, *field, *type_of_field;
	int32_t is_static;
	uint64_t offset;
	const void *address;
} structs[] = {
#define FIELD(type, field, in, of)                                \
	{                                                         \
		type, field, "", 0, offsetof(struct in, of), NULL \
	}
#define AT(type, field, variable)                  \
	{                                          \
		type, field, "", 1, 0, &(variable) \
	}
	AT("CodeCache", "_heaps", array_at),
	FIELD("GrowableArrayBase", "_len", array, len),
	FIELD("GrowableArray<int>", "_data", array, data),
	FIELD("CodeHeap", "_memory", heap, memory),
	FIELD("CodeHeap", "_segmap", heap, segmap),
	FIELD("CodeHeap", "_log2_segment_size", heap, shift),
	FIELD("VirtualSpace", "_low", space, low),
	FIELD("VirtualSpace", "_high", space, high),
	FIELD("HeapBlock::Header", "_length", block, length),
	FIELD("HeapBlock::Header", "_used", block, used),
	FIELD("CodeBlob", "_name", blob, name),
	FIELD("CodeBlob", "_frame_complete_offset", blob, complete),
	FIELD("CodeBlob", "_frame_size", blob, frame),
	FIELD("CodeBlob", "_code_begin", blob, begin),
	FIELD("CodeBlob", "_code_end", blob, end),
	FIELD("CompiledMethod", "_method", blob, method),
	FIELD("nmethod", "_compile_id", blob, id),
	FIELD("nmethod", "_state", blob, state),
	FIELD("nmethod", "_verified_entry_point", blob, entry),
	FIELD("nmethod", "_osr_entry_point", blob, osr_entry),
	FIELD("nmethod", "_entry_bci", blob, bci),
	AT("Abstract_VM_Version", "_vm_major_version", version),
	FIELD("CompiledMethod", "_scopes_data_begin", blob, scopes),
	FIELD("nmethod", "_scopes_pcs_offset", blob, places),
	FIELD("nmethod", "_dependencies_offset", blob, places_end),
	FIELD("nmethod", "_metadata_offset", blob, metadata),
	FIELD("nmethod", "_orig_pc_offset", blob, pc_at),
	FIELD("CompiledMethod", "_deopt_handler_begin", blob, given_up),
	FIELD("CompiledMethod", "_deopt_mh_handler_begin", blob, given_up_mh),
	AT("AbstractInterpreter", "_code", queue_at),
	FIELD("StubQueue", "_stub_buffer", queue, buffer),
	FIELD("StubQueue", "_buffer_limit", queue, limit),
	FIELD("InterpreterCodelet", "_size", codelet, size),
	FIELD("InterpreterCodelet", "_bytecode", codelet, bytecode),
	AT("StubRoutines", "_call_stub_return_address", call_stub),
	FIELD("Method", "_constMethod", method, constant),
	FIELD("ConstMethod", "_constants", const_method, constants),
	FIELD("ConstMethod", "_name_index", const_method, name),
	FIELD("ConstMethod", "_code_size", const_method, code_size),
	FIELD("ConstMethod", "_flags", const_method, flags),
	FIELD("ConstantPool", "_pool_holder", pool, holder),
	FIELD("ConstantPool", "_length", pool, length),
	FIELD("ConstantPool", "_source_file_name_index", pool, file),
	FIELD("Klass", "_name", klass, name),
	FIELD("Symbol", "_length", symbol, length),
	FIELD("Symbol", "_body", symbol, body),
	{ 0 },
};
static struct type_entry {
	const char *name, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
} types[] = {
	{ "HeapBlock", NULL, 0, 0, 0, sizeof(struct block) },
	{ "ConstantPool", NULL, 0, 0, 0, offsetof(struct pool, entries) },
	{ "ConstMethod", NULL, 0, 0, 0, offsetof(struct const_method, code) },
	{ 0 },
};

static void set_symbol(struct symbol *s, const char *text)
{
	s->length = (uint16_t)strlen(text);
	strcpy(s->body, text);
}

/* A blob from that segment on, over so many segments. */
static struct blob *put_blob(uint32_t segment, uint32_t n, const char *name)
{
	struct block *block = (void *)(code_heap + segment * SEGMENT);
	struct blob *b = (void *)(block + 1);

	*block = (struct block) { n, 1 };
	*b = (struct blob) { .name = name, .complete = 20, .frame = 6, .bci = -1 };
	b->begin = code_heap + (segment + n - 2) * SEGMENT;
	b->end = b->begin + 2 * SEGMENT;
	b->entry = b->begin + 8;
	for (uint32_t i = 0; i < n; i++)
		segmap[segment + i] = (uint8_t)i;
	return b;
}

static struct blob *put_compiled(void)
{
	struct blob *b = put_blob(4, 10, "nmethod");

	b->method = &method;
	return b;
}

/* A class "shop/Cart" of Cart.java, with a method "total". */
static void make_up(void)
{
	memset(segmap, 0xff, sizeof(segmap));
	set_symbol(&class_name, "shop/Cart");
	set_symbol(&method_name, "total");
	set_symbol(&file_name, "Cart.java");
	klass.name = &class_name;
	pool = (struct pool) { &klass, 4, 3, { NULL, NULL, &method_name, &file_name } };
	const_method = (struct const_method) { .constants = &pool, .name = 2 };
	method = (struct method) { .constant = &const_method };
	heap = (struct heap) { { code_heap, code_heap + sizeof(code_heap) }, { segmap, NULL }, 7 };
	heaps[0] = &heap;
	array = (struct array) { 1, heaps };
	array_at = &array;
	for (int i = 0; i < 3; i++)
		codelets[i].size = sizeof(codelets[0]);
	codelets[0].bytecode = -1;
	codelets[1].bytecode = 42;
	codelets[2].bytecode = 177;
	queue = (struct queue) { codelets, sizeof(codelets) };
	queue_at = &queue;
	call_stub = code_heap + HEAP_BYTES - 8;
	version = 17;
}
