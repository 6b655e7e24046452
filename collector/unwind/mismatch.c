// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/mismatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/clock.h"

/* Both stacks. */
struct pair {
	const __u64 *frames[2];
	uint32_t n[2];
};

static double ms(uint64_t time_ns, uint64_t from_ns)
{
	return (double)(int64_t)(time_ns - from_ns) / 1e6;
}

static void print_name(const struct wire_copy *c)
{
	char path[48], name[32] = "gone";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", c->tgid, c->tid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	fprintf(stderr, "chaincap: process %u, thread %u (%s) at %.6f s: a stack differs\n",
		c->tgid, c->tid, name, (double)c->r.time_ns / 1e9);
}

static void print_way(const struct wire_copy *c, uint32_t n, uint32_t end)
{
	static const char *const ends[WIRE_ENDS] = { "unknown",	   "whole",   "depth",
						     "unreadable", "no rule", "guessed" };
	static const char *const known[] = { "not known before", "known before",
					     "known before as another stack" };

	fprintf(stderr, "  %u frames (end: %s), ", n, end < WIRE_ENDS ? ends[end] : "?");
	if (c->id)
		fprintf(stderr, "completed by the recorder from frame %u on\n", c->n - 1);
	else
		fprintf(stderr, "by the rules of the BPF side, the last of kind %u; %s\n",
			c->last_rule, c->known <= WIRE_KNOWN_AS_OTHER ? known[c->known] : "?");
}

static void print_span(const struct symbolizer *sym, uint32_t space, const struct wire_copy *c)
{
	struct symbolizer_span s = symbolizer_span(sym, space);
	uint64_t at_ns = c->r.time_ns;

	fprintf(stderr, "  compared %+.3f ms later; mapped like this from %+.3f ms on",
		ms(clock_now_ns(), at_ns), ms(s.from_ns, at_ns));
	if (s.until_ns)
		fprintf(stderr, " to %+.3f ms", ms(s.until_ns, at_ns));
	if (s.sure_ns)
		fprintf(stderr, ", in doubt from %+.3f ms to %+.3f ms", ms(s.doubt_ns, at_ns),
			ms(s.sure_ns, at_ns));
	fprintf(stderr, "; space %" PRIx64 ", sp %" PRIx64 ", copy of %u bytes\n",
		(uint64_t)c->space, (uint64_t)c->sp, c->len);
}

static void print_frame(struct symbolizer *sym, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct symbolizer_code code;

	fprintf(stderr, " %" PRIx64, addr);
	if (symbolizer_code(sym, space, addr, time_ns, &code))
		fprintf(stderr, " %s+%" PRIx64 " (%+.3f ms)",
			code_files_path(symbolizer_files(sym), code.file), code.offset,
			ms(code.since_ns, time_ns));
}

static void print_frames(struct symbolizer *sym, uint32_t space, const struct pair *p,
			 uint64_t time_ns)
{
	for (uint32_t i = 0; i < p->n[0] || i < p->n[1]; i++) {
		bool same = i < p->n[0] && i < p->n[1] && p->frames[0][i] == p->frames[1][i];

		fprintf(stderr, "  %c %2u:", same ? ' ' : '!', i);
		if (i < p->n[0])
			print_frame(sym, space, p->frames[0][i], time_ns);
		if (!same) {
			fputs(" | other:", stderr);
			if (i < p->n[1])
				print_frame(sym, space, p->frames[1][i], time_ns);
		}
		fputc('\n', stderr);
	}
}

static bool has_frame(const struct pair *p, uint64_t start, uint64_t end)
{
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < p->n[k]; i++)
			if (p->frames[k][i] >= start && p->frames[k][i] < end)
				return true;
	return false;
}

static void print_mapped_now(const struct pair *p, uint32_t tgid)
{
	char path[32], line[4352];
	uint64_t start, end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    has_frame(p, start, end))
			fprintf(stderr, "  now %s", line);
	if (f)
		fclose(f);
}

void mismatch_print(struct symbolizer *sym, const struct reference *r, const struct wire_copy *c,
		    const __u64 *frames, uint32_t n, uint32_t end)
{
	uint32_t space = symbolizer_space(sym, c->tgid, c->r.time_ns);
	struct pair p = { .frames = { frames }, .n = { n } };

	p.frames[1] = reference_frames(r, &p.n[1]);
	print_name(c);
	print_way(c, n, end);
	print_span(sym, space, c);
	print_frames(sym, space, &p, c->r.time_ns);
	print_mapped_now(&p, c->tgid);
}
