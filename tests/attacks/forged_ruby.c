// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that looks like Ruby 3.1 and lies in its structs: forged_ruby WHAT (forged.h):
 *
 *     loop     the array of frames has no end
 *     wild     frames, code and strings are at addresses where nothing is
 *     long     strings and tables say that they are very long
 *     control  names consist of control characters
 *     many     each time another code object, with another name
 *     line     instructions and tables of lines are anywhere
 */
#include "forged.h"

/* What is looked for in a file. */
EXPORTED __thread void *ruby_current_ec;
EXPORTED const char ruby_version[] = "3.1.2";
void rb_vm_exec(void (*wait)(void));

/* Offsets in 3.1, as in collector/interpreters/layout.c. */
#define FRAME_BYTES 64
#define CODE_AT 16
#define FLAGS_AT 32
#define FIRST_AT 8
#define FILE_AT 64
#define SCOPE_AT 72
#define NAME_AT 80
#define LINES_AT 120
#define TABLE_AT 144

struct forged {
	_Alignas(16) char context[512], frames[64][FRAME_BYTES], flags[64], iseq[64], body[256];
	_Alignas(16) char name[64], file[64], path[64], table[4096], lines[4096], code[4096];
	_Alignas(16) char text[8192];
};

static struct forged *forged;

static void put_string(char *at, const char *text, uint64_t length)
{
	put(at, 5 | 1 << 13);
	put(at + 16, length);
	put(at + 24, (uintptr_t)forged->text + (at == forged->name ? 0 : 4096));
	strcpy(forged->text + (at == forged->name ? 0 : 4096), text);
}

static void forge(void)
{
	struct forged *f = forged;

	put(f->context, (uintptr_t)f->frames);
	put(f->context + 8, 10 * FRAME_BYTES / 8);
	put(f->context + 16, (uintptr_t)f->frames);
	for (int i = 0; i < 64; i++) {
		put(f->frames[i], (uintptr_t)f->code + 8 + 8 * (unsigned int)i);
		put(f->frames[i] + CODE_AT, (uintptr_t)f->iseq);
		put(f->frames[i] + FLAGS_AT, (uintptr_t)f->flags + (i == 9 ? 8 : 0));
	}
	put(f->flags + 8, 0x20);
	put(f->iseq + 16, (uintptr_t)f->body);
	put(f->body, 1 | 100ull << 32);
	put(f->body + FIRST_AT, (uintptr_t)f->code);
	put(f->body + FILE_AT, (uintptr_t)f->path);
	put(f->body + NAME_AT, (uintptr_t)f->name);
	put(f->body + SCOPE_AT, (uintptr_t)f->name);
	put(f->body + LINES_AT, (uintptr_t)f->lines);
	put(f->body + LINES_AT + 16, 1);
	put(f->body + TABLE_AT, (uintptr_t)f->table);
	put(f->lines, 42);
	put(f->path, 7 | 1 << 13);
	put(f->path + 16, (uintptr_t)f->file);
	put_string(f->name, "forged_name", 11);
	put_string(f->file, "/forged/file.rb", 15);
}

static void lie(void)
{
	struct forged *f = forged;
	static unsigned int n;

	if (!strcmp(what, "loop"))
		put(f->context + 8, n % 3 ? UINT64_MAX / 8 : (uint64_t)-1 >> (n % 64));
	if (!strcmp(what, "wild")) {
		put(f->context + 16, n % 5 ? (uintptr_t)f->frames : 0x7fffdeadbe00u + n);
		put(f->frames[n % 7] + CODE_AT, n % 2 ? 8 : 0xffff888000000000);
		put(f->frames[n % 5] + FLAGS_AT, n % 2 ? 8 : 0xffff888000000000);
		put(f->iseq + 16, n % 4 ? (uintptr_t)f->body : 0x123456789000u + n);
		put(f->body + NAME_AT, n % 3 ? 0x123456789000 : (uint64_t)-8);
		put(f->path + 16, n % 3 ? (uint64_t)-16 : (uintptr_t)f->path);
	}
	if (!strcmp(what, "long")) {
		put(f->name + 16, 1ull << (n % 64));
		put(f->file + 16, (uint64_t)-1 >> (n % 64));
		/* Another one each time. */
		put(f->body + 88, n);
	}
	if (!strcmp(what, "control"))
		put_string(f->name,
			   "\033]0;title\007\033[2J\xc2\x9b"
			   "31m\x80\n;-\r",
			   28);
	if (!strcmp(what, "many")) {
		char name[32];

		snprintf(name, sizeof(name), "many_%010u", n);
		put_string(f->name, name, strlen(name));
		put(f->body + 88, n);
	}
	if (!strcmp(what, "line")) {
		put(f->body, 1 | (uint64_t)(n * 2654435761u) << 32);
		put(f->body + LINES_AT + 16, n * 2654435761u);
		put(f->frames[n % 7], (uintptr_t)f->code + (n % 2 ? 1ull << (n % 64) : n));
		memset(f->table, (int)n, sizeof(f->table));
		put(f->body + TABLE_AT, n % 3 ? (uintptr_t)f->table : 0xffff888000000000 + n);
		put(f->body + LINES_AT, n % 7 ? (uintptr_t)f->lines : (uint64_t)-8);
	}
	n++;
}

__attribute__((noinline)) EXPORTED void rb_vm_exec(void (*wait)(void))
{
	wait();
	__asm__ volatile("");
}

static void evaluate(void (*wait)(void))
{
	rb_vm_exec(wait);
}

int main(int argc, char **argv)
{
	forged = forged_room(sizeof(*forged));
	ruby_current_ec = forged->context;
	return forged_run(argc, argv);
}
