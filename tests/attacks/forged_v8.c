// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that looks like Node.js 20 and lies in V8's objects: forged_v8 WHAT (forged.h):
 *
 *     loop     strings consist of themselves
 *     wild     objects, their maps and characters are at addresses where nothing is
 *     long     strings and lists of variables say that they are very long
 *     control  names consist of control characters
 *     many     each time other functions, with other names, far behind in their file
 *     line     functions begin anywhere in their file, and that anywhere
 */
#include "forged.h"

/* What is looked for in a file. */
#define SAYS(name, value) EXPORTED const int32_t v8dbg_##name = value
SAYS(off_fp_function, -16);
SAYS(off_fp_context, -8);
SAYS(off_fp_bytecode_array, -32);
SAYS(off_fp_bytecode_offset, -40);
SAYS(HeapObjectTag, 1);
SAYS(HeapObjectTagMask, 3);
SAYS(SmiShiftSize, 31);
SAYS(TaggedSize, 8);
SAYS(class_JSFunction__shared__SharedFunctionInfo, 24);
SAYS(class_Map__instance_type__uint16_t, 12);
SAYS(class_SharedFunctionInfo__name_or_scope_info__Object, 16);
SAYS(class_SharedFunctionInfo__script_or_debug_info__HeapObject, 32);
SAYS(class_Script__source__Object, 8);
SAYS(class_Script__name__Object, 16);
SAYS(class_Script__line_ends__Object, 56);
SAYS(scopeinfo_idx_ncontextlocals, 2);
SAYS(scopeinfo_idx_first_vars, 3);
SAYS(class_String__length__int32_t, 12);
SAYS(class_SeqOneByteString__chars__char, 16);
SAYS(FirstNonstringType, 128);
SAYS(StringRepresentationMask, 7);
SAYS(OneByteStringTag, 8);
SAYS(ConsStringTag, 1);
SAYS(ExternalStringTag, 2);
SAYS(SlicedStringTag, 3);
SAYS(ThinStringTag, 5);
SAYS(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262);
SAYS(type_ScopeInfo__SCOPE_INFO_TYPE, 261);
SAYS(type_Script__SCRIPT_TYPE, 167);
SAYS(type_BytecodeArray__BYTECODE_ARRAY_TYPE, 191);

#define FRAMES 8
#define SOURCE (1u << 20)
enum { MAPS, STRING, SHARED, SCOPE, SCRIPT, CODE };

struct forged {
	char maps[6][64], functions[FRAMES][64], shared[64], scope[128], script[128], bytecodes[64];
	char name[64], file[64], source[16 + SOURCE];
};

static struct forged *forged;
static int depth;

static uint64_t tagged(const void *object)
{
	return (uintptr_t)object + 1;
}

static uint64_t number(uint64_t n)
{
	return n << 32;
}

static void put_type(int kind, uint16_t type)
{
	put(forged->maps[kind], tagged(forged->maps[MAPS]));
	memcpy(forged->maps[kind] + 12, &type, sizeof(type));
}

static void put_string(char *at, const char *text)
{
	put(at, tagged(forged->maps[STRING]));
	put(at + 8, number(strlen(text)) | 7);
	strcpy(at + 16, text);
}

static void forge(void)
{
	struct forged *f = forged;

	put_type(MAPS, 255);
	put_type(STRING, 40);
	put_type(SHARED, 262);
	put_type(SCOPE, 261);
	put_type(SCRIPT, 167);
	put_type(CODE, 191);
	put(f->bytecodes, tagged(f->maps[CODE]));
	for (int i = 0; i < FRAMES; i++) {
		put(f->functions[i], tagged(f->maps[MAPS]));
		put(f->functions[i] + 24, tagged(f->shared));
	}
	put(f->shared, tagged(f->maps[SHARED]));
	put(f->shared + 16, tagged(f->scope));
	put(f->shared + 32, tagged(f->script));
	put(f->scope, tagged(f->maps[SCOPE]));
	put(f->scope + 8, number(1 << 12));
	put(f->scope + 24, 0);
	put(f->scope + 32, tagged(f->name));
	put(f->scope + 48, number(2000));
	put(f->script, tagged(f->maps[SCRIPT]));
	put(f->script + 8, tagged(f->source));
	put(f->script + 16, tagged(f->file));
	put(f->script + 24, 0);
	put(f->script + 64, number(7));
	put_string(f->name, "forged_name");
	put_string(f->file, "/forged/file.js");
	put(f->source, tagged(f->maps[STRING]));
	put(f->source + 8, number(SOURCE));
	/* The place 2000 is in line 42. */
	for (int i = 0; i < 41; i++)
		f->source[16 + i * 40] = '\n';
}

static void lie(void)
{
	struct forged *f = forged;
	static unsigned int n;

	if (!strcmp(what, "loop")) {
		put_type(STRING, n % 2 ? 8 | 5 : n % 3 ? 8 | 1 : 8 | 3);
		put(f->name + 16, tagged(f->name));
		put(f->name + 24, tagged(f->name));
		put(f->source + 16, tagged(f->source));
		put(f->file + 16, tagged(n % 2 ? f->name : f->file));
	}
	if (!strcmp(what, "wild")) {
		put(f->functions[n % FRAMES] + 24, n % 2 ? 9 : 0xffff888000000001);
		put(f->shared, n % 3 ? tagged(f->maps[SHARED]) : 0x123456789001);
		put(f->shared + 16, n % 5 ? tagged(f->scope) : (uint64_t)-7);
		put(f->shared + 32, n % 7 ? tagged(f->script) : 0x7fffdeadbe01);
		put(f->scope + 32, n % 4 ? tagged(f->name) : (uint64_t)-3);
		put_type(STRING, n % 3 ? 40 : 8 | 2);
		put(f->name + 24, n % 2 ? 0xffffffff81000000 : 1);
		put(f->source + 24, n % 2 ? 0xffffffff81000000 : 1);
	}
	if (!strcmp(what, "long")) {
		put(f->name + 8, number(1ull << (n % 32)) | n);
		put(f->file + 8, number((uint32_t)-1 >> (n % 32)));
		put(f->source + 8, number((uint32_t)-1));
		put(f->scope + 24, number(n % 3 ? 0 : 1ull << (n % 32)));
		put(f->scope + 48, number((uint32_t)-1 >> (n % 32)));
	}
	if (!strcmp(what, "control"))
		put_string(f->name, "\033]0;title\007\033[2J\xc2\x9b"
				    "31m\x80\n;-\r");
	if (!strcmp(what, "many")) {
		char name[32];

		snprintf(name, sizeof(name), "many_%010u", n);
		put_string(f->name, name);
		put(f->name + 8, number(strlen(name)) | n);
		put(f->scope + 48, number(250000 + n % 10000));
		put(f->script + 64, number(n));
	}
	if (!strcmp(what, "line")) {
		put_type(STRING, n % 3 ? 40 : 32);
		put(f->scope + 48, n % 5 ? number(n * 2654435761u) : n);
		put(f->script + 24, n % 2 ? number(n * 2654435761u) : 0);
		put(f->script + 8, n % 7 ? tagged(f->source) : tagged((char *)f + sizeof(*f) - 24));
		put(f->script + 64, number(n));
	}
	n++;
}

/* A frame as V8's, without call frame information: context, function, bytecodes, offset. */
void forged_frame(void (*call)(void), uint64_t context, uint64_t function, uint64_t bytecodes,
		  uint64_t offset);
__asm__(".text\nforged_frame:\n"
	"push %rbp\nmov %rsp, %rbp\npush %rsi\npush %rdx\npush $0\npush %rcx\npush %r8\nsub $8, "
	"%rsp\n"
	"call *%rdi\nleave\nret\n");

static void (*innermost)(void);

static void deeper(void)
{
	int i = depth++;

	forged_frame(depth < FRAMES ? deeper : innermost, tagged(forged->script),
		     tagged(forged->functions[i]), tagged(forged->bytecodes), number(64));
	depth--;
}

static void evaluate(void (*wait)(void))
{
	innermost = wait;
	deeper();
}

int main(int argc, char **argv)
{
	forged = forged_room(sizeof(*forged));
	return forged_run(argc, argv);
}
