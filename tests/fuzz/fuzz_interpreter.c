// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as the memory of a process with an interpreter; the first one says which.
 * The seeds are memory that tests/unit/interpreters_walk.c makes.
 */
#include "collector.h"

#include "interpreters/layout.h"
#include "interpreters/walk.h"

#define BASE 0x10000u
#define RUNTIME (BASE + 0x100u)
#define THREAD (BASE + 0x1000u)

struct memory {
	const uint8_t *data;
	size_t size, reads, bytes;
};

static bool read_memory(void *ctx, void *buf, size_t len, uint64_t addr)
{
	struct memory *m = ctx;

	m->reads++;
	m->bytes += len;
	if (addr < BASE || addr - BASE > m->size || len > m->size - (addr - BASE))
		return false;
	memcpy(buf, m->data + (addr - BASE), len);
	return true;
}

static bool is_text(const struct wire_code_text *t)
{
	return t->bytes <= WIRE_CODE_TEXT && t->width <= 4 && t->cut <= 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t which = size ? data[0] % 6 : 0;
	bool ruby = size && data[0] >= 128;
	struct elfinterp e = {
		.language = ruby    ? WIRE_RUBY
			    : which ? WIRE_PYTHON
				    : WIRE_PHP,
		.version = ruby	   ? 3 << 8 | data[0] % 5u
			   : which ? 7 + which
				   : 8 << 8 | 2,
		.state = RUNTIME,
		.eval_end = 1,
		.variable = { .tls = ruby ? data[0] >> 2 & 3 : 0, .slot = RUNTIME, .offset = 64 },
	};
	struct memory all = { .data = data + 1, .size = size ? size - 1 : 0 };
	struct walk_memory m = { read_memory, &all };
	struct walk_frame frames[WIRE_CODE_FRAMES];
	struct wire_interpreter in;
	struct wire_code code;
	uint32_t n;

	must(layout_find(&e, 0, &in));
	n = walk_frames(&m, &in, THREAD, frames);
	must(n <= WIRE_CODE_FRAMES && all.reads < (ruby ? 12 : 4) * WIRE_CODE_FRAMES);
	for (uint32_t i = 0; i < n; i++) {
		all.reads = all.bytes = 0;
		if (!frames[i].code || !walk_code(&m, &in, frames[i].code, &code))
			continue;
		must(is_text(&code.name) && is_text(&code.file) && is_text(&code.scope));
		must(code.n_lines <= WIRE_CODE_LINES);
		must(all.reads < 16 && all.bytes < sizeof(code) + 1024);
	}
	return 0;
}
