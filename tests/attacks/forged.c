// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that looks like CPython 3.11 and lies in its structs: forged WHAT (forged.h):
 *
 *     loop     a frame is its own caller
 *     wild     frames, code and strings are at addresses where nothing is
 *     long     strings and tables say that they are very long
 *     control  names consist of control characters
 *     key      there is no such key of thread-local values
 *     many     each time another code object, with another name
 */
#include "forged.h"

/* What is looked for in a file. */
#define RUNTIME_BYTES 4096
EXPORTED char _PyRuntime[RUNTIME_BYTES] = { 1 };
EXPORTED const unsigned long Py_Version = 0x030b02f0;
void _PyEval_EvalFrameDefault(void (*wait)(void));

/* Offsets in 3.11, as in collector/interpreters/layout.c. */
#define KEY_AT 592
#define CFRAME_AT 56
#define CURRENT_AT 8
#define CODE_AT 32
#define PREVIOUS_AT 48
#define INSTRUCTION_AT 56
#define ENTRY_AT 68
#define FILE_AT 112
#define LINES_AT 136
#define NAME_AT 128
#define TEXT_AT 48
#define BYTES_AT 32

struct forged {
	_Alignas(16) char thread[512], cframe[64], frames[64][128], code[512];
	_Alignas(16) char name[8192], file[8192], lines[65536];
};

static struct forged *forged;
static void put_string(char *at, const char *text, uint64_t length)
{
	put(at + 16, length);
	put(at + 32, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(at + TEXT_AT, text, strlen(text));
}

static void forge(void)
{
	struct forged *f = forged;

	put(f->thread + CFRAME_AT, (uintptr_t)f->cframe);
	put(f->cframe + CURRENT_AT, (uintptr_t)f->frames[0]);
	for (int i = 0; i < 64; i++) {
		put(f->frames[i] + CODE_AT, (uintptr_t)f->code);
		put(f->frames[i] + INSTRUCTION_AT, (uintptr_t)f->code + 184 + 2 * (unsigned int)i);
		put(f->frames[i] + PREVIOUS_AT, i < 9 ? (uintptr_t)f->frames[i + 1] : 0);
		f->frames[i][ENTRY_AT] = i == 9;
	}
	put(f->code + NAME_AT, (uintptr_t)f->name);
	put(f->code + FILE_AT, (uintptr_t)f->file);
	put(f->code + LINES_AT, (uintptr_t)f->lines);
	put_string(f->name, "forged_name", 11);
	put_string(f->file, "/forged/file.py", 15);
	put(f->lines + 16, 100);
}

static void lie(void)
{
	struct forged *f = forged;
	static unsigned int n;

	if (!strcmp(what, "loop"))
		put(f->frames[3] + PREVIOUS_AT, (uintptr_t)f->frames[3]);
	if (!strcmp(what, "wild")) {
		put(f->frames[n % 9] + PREVIOUS_AT, 0x7fffdeadbe00 + n);
		put(f->frames[n % 7] + CODE_AT, n % 2 ? 8 : 0xffff888000000000);
		put(f->code + NAME_AT, n % 3 ? 0x123456789000 : (uint64_t)-8);
	}
	if (!strcmp(what, "long")) {
		put(f->name + 16, 1ull << (n % 64));
		put(f->file + 16, (uint64_t)-1 >> (n % 64));
		put(f->lines + 16, 1ull << (n % 64));
		put(f->name + 32, n);
		/* Another one each time. */
		put(f->code + 72, n);
	}
	if (!strcmp(what, "control"))
		put_string(f->name,
			   "\033]0;title\007\033[2J\xc2\x9b"
			   "31m\x80\n;-\r",
			   28);
	if (!strcmp(what, "key"))
		put(_PyRuntime + KEY_AT, 1 | (uint64_t)(n * 2654435761u) << 32);
	if (!strcmp(what, "many")) {
		char name[32];

		snprintf(name, sizeof(name), "many_%010u", n);
		put_string(f->name, name, strlen(name));
		put(f->code + 72, n);
	}
	n++;
}

__attribute__((noinline)) EXPORTED void _PyEval_EvalFrameDefault(void (*wait)(void))
{
	wait();
	__asm__ volatile("");
}

static void evaluate(void (*wait)(void))
{
	_PyEval_EvalFrameDefault(wait);
}

int main(int argc, char **argv)
{
	pthread_key_t key;

	forged = forged_room(sizeof(*forged));
	if (pthread_key_create(&key, NULL) || pthread_setspecific(key, forged->thread))
		return 1;
	put(_PyRuntime + KEY_AT, 1 | (uint64_t)key << 32);
	return forged_run(argc, argv);
}
