// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe_args.h"

#include <asm/ptrace.h>
#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* The rest of a text. */
struct text {
	const char *p, *end;
};

static bool take(struct text *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

static void skip_spaces(struct text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

/* A whole number with a sign, decimal or "0x". */
static bool take_number(struct text *t, int64_t *out)
{
	bool minus = take(t, '-'), any = false;
	uint64_t v = 0, base = 10;

	if (t->end - t->p > 2 && t->p[0] == '0' && t->p[1] == 'x') {
		base = 16;
		t->p += 2;
	}
	for (; t->p < t->end && isxdigit((unsigned char)*t->p); t->p++, any = true) {
		unsigned int c = (unsigned char)*t->p;
		uint64_t digit = isdigit((int)c) ? c - '0' : (uint64_t)(tolower((int)c) - 'a' + 10);

		if (digit >= base)
			break;
		if (v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	*out = (int64_t)(minus ? -v : v);
	return any;
}

/* ---- registers ------------------------------------------------------------------------------ */

#if defined(__x86_64__)

#define AT(reg) offsetof(struct pt_regs, reg)

static const struct {
	const char *names[4]; /* of its 64, 32, 16 and 8 bits */
	uint16_t at;
} registers[] = {
	{ { "rdi", "edi", "di", "dil" }, AT(rdi) },
	{ { "rsi", "esi", "si", "sil" }, AT(rsi) },
	{ { "rdx", "edx", "dx", "dl" }, AT(rdx) },
	{ { "rcx", "ecx", "cx", "cl" }, AT(rcx) },
	{ { "r8", "r8d", "r8w", "r8b" }, AT(r8) },
	{ { "r9", "r9d", "r9w", "r9b" }, AT(r9) },
	{ { "rax", "eax", "ax", "al" }, AT(rax) },
	{ { "rbx", "ebx", "bx", "bl" }, AT(rbx) },
	{ { "rbp", "ebp", "bp", "bpl" }, AT(rbp) },
	{ { "rsp", "esp", "sp", "spl" }, AT(rsp) },
	{ { "r10", "r10d", "r10w", "r10b" }, AT(r10) },
	{ { "r11", "r11d", "r11w", "r11b" }, AT(r11) },
	{ { "r12", "r12d", "r12w", "r12b" }, AT(r12) },
	{ { "r13", "r13d", "r13w", "r13b" }, AT(r13) },
	{ { "r14", "r14d", "r14w", "r14b" }, AT(r14) },
	{ { "r15", "r15d", "r15w", "r15b" }, AT(r15) },
};

#define PASSED 6u /* they are first in the table */

static bool find_register(const char *name, size_t len, uint16_t *at)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		for (int k = 0; k < 4; k++)
			if (strlen(registers[i].names[k]) == len &&
			    !memcmp(registers[i].names[k], name, len)) {
				*at = registers[i].at;
				return true;
			}
	return false;
}

static uint16_t passed_register(unsigned int n, bool is_go)
{
	/* "Go internal ABI specification" */
	static const uint16_t go[PASSED] = { AT(rax), AT(rbx), AT(rcx), AT(rdi), AT(rsi), AT(r8) };

	return is_go ? go[n - 1] : registers[n - 1].at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c);
}

/* "%rax" */
static bool take_register(struct text *t, uint16_t *at)
{
	const char *name;

	if (!take(t, '%'))
		return false;
	for (name = t->p; t->p < t->end && is_word(*t->p);)
		t->p++;
	return find_register(name, (size_t)(t->p - name), at);
}

/* "$5", "%rax", "-16(%rbp)", "8(%rax,%rbx,4)" */
static bool take_place(struct text *t, struct wire_probe_value *v)
{
	int64_t number = 0;

	if (take(t, '$')) {
		v->source = WIRE_PROBE_CONSTANT;
		if (!take_number(t, &number))
			return false;
		v->number = number;
		return true;
	}
	if (t->p < t->end && *t->p == '%') {
		v->source = WIRE_PROBE_REGISTER;
		return take_register(t, &v->reg);
	}
	v->source = WIRE_PROBE_MEMORY;
	if (t->p < t->end && *t->p != '(' && !take_number(t, &number))
		return false;
	v->number = number;
	if (!take(t, '(') || !take_register(t, &v->reg))
		return false;
	if (take(t, ',')) {
		v->scale = 1;
		if (!take_register(t, &v->index))
			return false;
		if (take(t, ',')) {
			if (!take_number(t, &number) || number < 1 || number > 8)
				return false;
			v->scale = (uint8_t)number;
		}
	}
	return take(t, ')');
}

#elif defined(__aarch64__)

#define PASSED 8u

static uint16_t passed_register(unsigned int n, bool is_go)
{
	(void)is_go; /* the same registers */
	return (uint16_t)(offsetof(struct user_pt_regs, regs) + 8 * (n - 1));
}

/* "x0", "w0", "sp" */
static bool take_register(struct text *t, uint16_t *at)
{
	int64_t n;

	if (t->end - t->p >= 2 && t->p[0] == 's' && t->p[1] == 'p') {
		t->p += 2;
		*at = offsetof(struct user_pt_regs, sp);
		return true;
	}
	if (!(take(t, 'x') || take(t, 'w')) || !take_number(t, &n) || n < 0 || n > 30)
		return false;
	*at = (uint16_t)(offsetof(struct user_pt_regs, regs) + 8 * (size_t)n);
	return true;
}

/* "5", "x0", "[sp]", "[x0, 16]", "[x0, x1]" */
static bool take_place(struct text *t, struct wire_probe_value *v)
{
	int64_t number = 0;

	if (take(t, '[')) {
		v->source = WIRE_PROBE_MEMORY;
		if (!take_register(t, &v->reg))
			return false;
		if (take(t, ',')) {
			skip_spaces(t);
			if (t->p < t->end && *t->p == 'x') {
				v->scale = 1;
				if (!take_register(t, &v->index))
					return false;
			} else if (!take_number(t, &number)) {
				return false;
			}
			v->number = number;
		}
		return take(t, ']');
	}
	if (t->p < t->end && (isdigit((unsigned char)*t->p) || *t->p == '-')) {
		v->source = WIRE_PROBE_CONSTANT;
		if (!take_number(t, &number))
			return false;
		v->number = number;
		return true;
	}
	v->source = WIRE_PROBE_REGISTER;
	return take_register(t, &v->reg);
}

#else
#error "registers of x86-64 and arm64 only"
#endif

unsigned int probe_args_passed(void)
{
	return PASSED;
}

struct wire_probe_value probe_args_of_function(unsigned int n, bool is_go)
{
	return (struct wire_probe_value) {
		.reg = passed_register(n, is_go),
		.source = WIRE_PROBE_REGISTER,
		.bytes = 8,
		.is_signed = 1,
	};
}

struct wire_probe_value probe_args_returned(void)
{
	struct wire_probe_value v = probe_args_of_function(1, false);

#if defined(__x86_64__)
	v.reg = AT(rax);
#endif
	return v;
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* "-4@": how many bytes it has, and whether it has a sign. */
static bool take_size(struct text *t, struct wire_probe_value *v)
{
	int64_t bytes;

	if (!take_number(t, &bytes) || !take(t, '@'))
		return false;
	v->is_signed = bytes < 0;
	bytes = bytes < 0 ? -bytes : bytes;
	v->bytes = (uint8_t)bytes;
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* To the next argument: what is in brackets may have spaces in it. */
static void skip_arg(struct text *t)
{
	bool inside = false;

	for (; t->p < t->end && (inside || (*t->p != ' ' && *t->p != '\t')); t->p++)
		inside = *t->p == '[' || (inside && *t->p != ']');
}

bool probe_args_of_usdt(const char *text, size_t len, unsigned int n, struct wire_probe_value *out)
{
	struct text t = { text, text + len };

	*out = (struct wire_probe_value) { .source = WIRE_PROBE_NOTHING };
	skip_spaces(&t);
	for (unsigned int i = 1; i < n; i++) {
		skip_arg(&t);
		skip_spaces(&t);
	}
	return n && take_size(&t, out) && take_place(&t, out) &&
	       (t.p == t.end || *t.p == ' ' || *t.p == '\t');
}
