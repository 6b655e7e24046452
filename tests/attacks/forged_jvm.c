// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that looks like a JVM and lies in its structs, with a frame of compiled code and one of
 * the interpreter: forged_jvm WHAT (forged.h):
 *
 *     loop     tables have no end, and lists consist of themselves
 *     wild     descriptions, code and methods are at addresses where nothing is
 *     long     heaps, names and tables say that they are very large
 *     control  names consist of control characters
 *     many     each time another method, in code that was compiled anew
 *     line     frames, calls and tables of lines are anywhere
 */
#include "forged.h"
#include "made_up_jvm.h"

/* What is looked for in a file. */
EXPORTED const void *gHotSpotVMStructs = structs;
EXPORTED const void *gHotSpotVMTypes = types;

struct place {
	int32_t offset, scope, objects, flags;
};

static struct blob *compiled;
static uint8_t scopes[300];
static struct place places[64];

/* push %rbp; sub $32, %rsp; call *%rdi; add $32, %rsp; pop %rbp; ret */
static const uint8_t compiled_code[] = { 0x55, 0x48, 0x83, 0xec, 32,   0xff, 0xd7,
					 0x48, 0x83, 0xc4, 32,	 0x5d, 0xc3 };
#define CALL_ENDS 7

/* Calls %rdi with %rsi, in a frame of the interpreter: %rdx is its method, %rcx its bytecode. */
static const uint8_t interpreter_code[] = {
	0x55,			/* push %rbp */
	0x48, 0x89, 0xe5,	/* mov %rsp, %rbp */
	0x48, 0x83, 0xec, 80,	/* sub $80, %rsp */
	0x48, 0x8d, 0x45, 16,	/* lea 16(%rbp), %rax */
	0x48, 0x89, 0x45, 0xf8, /* mov %rax, -8(%rbp) */
	0x48, 0x89, 0x55, 0xe8, /* mov %rdx, -24(%rbp) */
	0x48, 0x89, 0x4d, 0xc0, /* mov %rcx, -64(%rbp) */
	0x48, 0x89, 0xf8,	/* mov %rdi, %rax */
	0x48, 0x89, 0xf7,	/* mov %rsi, %rdi */
	0xff, 0xd0,		/* call *%rax */
	0xc9, 0xc3,		/* leave; ret */
};

static void forge(void)
{
	const struct method *metadata[] = { &method };

	make_up();
	set_symbol(&class_name, "forged");
	set_symbol(&method_name, "name");
	set_symbol(&file_name, "file.java");
	/* Its first bytecode is in line 42. */
	const_method.code_size = 8;
	const_method.flags = 1;
	memcpy(const_method.code + 8, (uint8_t[]) { 0xff, 0, 84, 0 }, 4);
	compiled = put_compiled();
	memcpy(compiled->begin, compiled_code, sizeof(compiled_code));
	memcpy(codelets[1].code, interpreter_code, sizeof(interpreter_code));
	scopes[1] = 0;
	scopes[2] = 1;
	scopes[3] = 1;
	places[0] = (struct place) { CALL_ENDS, 1, 0, 0 };
	compiled->scopes = scopes;
	compiled->places = offsetof(struct blob, rest);
	compiled->places_end = compiled->places + (int32_t)sizeof(places[0]);
	compiled->metadata = compiled->places_end;
	memcpy(compiled->rest, places, sizeof(places[0]));
	memcpy(compiled->rest + sizeof(places[0]), metadata, sizeof(metadata));
}

/* The honest address, one where nothing is, the kernel's, or none. */
static void *anywhere(void *honest, unsigned int n)
{
	void *const all[] = { honest, (void *)(uintptr_t)(0x123456789000u + n),
			      (void *)(uintptr_t)(0xffff888000000000 + 8ull * n), NULL };

	return all[n % 4];
}

static void lie(void)
{
	static unsigned int n;
	char name[32];

	if (!strcmp(what, "loop")) {
		/* A scope is its own caller, a block begins before itself, lines go on for ever. */
		scopes[1] = 1;
		memset(segmap, n % 2 ? 1 : 0, n % 3 ? 4 : sizeof(segmap));
		memset(const_method.code + 8, n % 5 ? 0xff : 8, sizeof(const_method.code) - 8);
		codelets[n % 3].size = n % 2 ? 64 : (int32_t)(n % 64);
		structs[sizeof(structs) / sizeof(structs[0]) - 1] = structs[n % 8];
	}
	if (!strcmp(what, "wild")) {
		array_at = anywhere(&array, n / 3);
		array.data = anywhere(heaps, n / 5);
		heaps[0] = anywhere(&heap, n / 7);
		heap.segmap.low = anywhere(segmap, n / 11);
		compiled->method = anywhere(&method, n);
		compiled->name = anywhere((void *)(uintptr_t) "nmethod", n / 13);
		compiled->scopes = anywhere(scopes, n / 2);
		method.constant = anywhere(&const_method, n / 17);
		const_method.constants = anywhere(&pool, n / 19);
		klass.name = anywhere(&class_name, n / 23);
		pool.entries[2] = anywhere(&method_name, n / 29);
		gHotSpotVMStructs = anywhere(structs, n / 31);
	}
	if (!strcmp(what, "long")) {
		array.len = n % 3 ? 1 : INT32_MAX;
		heap.memory.high = code_heap + (n % 2 ? HEAP_BYTES : 1ull << 30);
		heap.memory.low = code_heap - (n % 5 ? 0 : 1ull << 30);
		method_name.length = (uint16_t)(n * 2654435761u >> (n % 16));
		pool.length = n % 4 ? 4 : UINT32_MAX;
		const_method.code_size = (uint16_t)(n * 40503);
		compiled->places_end = n % 7 ? compiled->metadata : INT32_MAX;
		queue.limit = n % 3 ? INT32_MAX : (int32_t)sizeof(codelets);
		compiled->id = (int32_t)n;
	}
	if (!strcmp(what, "control"))
		set_symbol(&method_name, "\033]0;title\007\033[2J\xc2\x9b"
					 "31m\x80\n;-\r");
	if (!strcmp(what, "many")) {
		snprintf(name, sizeof(name), "many_%010u", n);
		set_symbol(&method_name, name);
		compiled->id = (int32_t)n;
		const_method.constants = n % 2 ? &pool : anywhere(&pool, 0);
		pool.entries[1] = &method_name;
		const_method.name = (uint16_t)(1 + n % 2);
	}
	if (!strcmp(what, "line")) {
		compiled->frame = n % 3 ? 6 : (int32_t)(n * 2654435761u >> (n % 32));
		compiled->begin = code_heap + 12 * SEGMENT - (n % 5 ? 0 : n % 256);
		compiled->metadata = (int32_t)(n * 2654435761u);
		memset(compiled->rest, (int)n, sizeof(compiled->rest));
		memset(scopes, (int)(n * 31), sizeof(scopes));
		memset(const_method.code, (int)(n * 7), sizeof(const_method.code));
		heap.shift = n % 7 ? 7 : (int32_t)n;
	}
	n++;
}

static void evaluate(void (*wait)(void))
{
	void (*interpret)(void (*)(void (*)(void)), void (*)(void), void *, void *);
	void (*run)(void (*)(void));
	static unsigned int n;
	uint8_t *code = code_heap + 12 * SEGMENT;

	n++;
	memcpy(&run, &(void *) { code }, sizeof(run));
	memcpy(&interpret, &(void *) { codelets[1].code }, sizeof(interpret));
	interpret(run, wait, strcmp(what, "wild") != 0 ? &method : anywhere(&method, n),
		  const_method.code + (strcmp(what, "line") != 0 ? 0 : n));
}

int main(int argc, char **argv)
{
	if (mprotect(code_heap, sizeof(code_heap), PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    mprotect(codelets, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	return forged_run(argc, argv);
}
