// SPDX-License-Identifier: GPL-2.0-or-later
/* What both layouts have in common. */
#include "go_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define FRAMES_MAX 1000u /* of a stack, as Go's own reader has it */

bool go_take(struct go_bytes *b, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; b->p < b->end && shift < 64; shift += 7) {
		uint8_t byte = *b->p++;

		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

uint32_t go_goroutine(struct go_trace *t, uint64_t number)
{
	return pairs_id(&t->goroutines, (uint32_t)number, (uint32_t)(number >> 32));
}

uint64_t go_number(const struct go_trace *t, uint32_t goroutine)
{
	struct pair p = t->goroutines.at[goroutine];

	return (uint64_t)p.b << 32 | p.a;
}

/* Numbers of strings and stacks count from 1 in each generation, so 32 bits are enough. */
uint32_t go_string(struct go_trace *t, uint64_t number, uint32_t generation)
{
	return pairs_id(&t->strings, (uint32_t)number, generation);
}

uint32_t go_stack(struct go_trace *t, uint64_t number, uint32_t generation)
{
	return pairs_id(&t->stacks, (uint32_t)number, generation);
}

int go_take_string(struct go_trace *t, struct go_bytes *b, uint32_t generation)
{
	uint64_t number, len;
	uint32_t id;

	if (!go_take(b, &number) || !go_take(b, &len) || len > (size_t)(b->end - b->p))
		return -EBADMSG;
	id = number ? go_string(t, number, generation) : 0;
	XGROW_ZEROED(t->text, id, t->cap_text);
	t->text[id] = (struct go_text) { b->p, len };
	b->p += len;
	return 0;
}

int go_take_stack(struct go_trace *t, struct go_bytes *b, uint32_t generation)
{
	uint64_t number, n, pc, function, file, line;
	size_t first = t->n_frames;
	uint32_t id;

	if (!go_take(b, &number) || !go_take(b, &n) || n > FRAMES_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; i < n; i++) {
		struct go_frame *f;

		if (!go_take(b, &pc) || !go_take(b, &function) || !go_take(b, &file) ||
		    !go_take(b, &line))
			return -EBADMSG;
		XGROW(t->frames, t->n_frames, t->cap_frames);
		f = &t->frames[t->n_frames++];
		f->function = function ? go_string(t, function, generation) : 0;
		f->file = file ? go_string(t, file, generation) : 0;
		f->line = line <= UINT32_MAX ? (uint32_t)line : 0;
	}
	id = number ? go_stack(t, number, generation) : 0;
	XGROW_ZEROED(t->stack, id, t->cap_stack);
	t->stack[id] = (struct go_stack) { first, (uint32_t)n };
	return 0;
}

enum go_reason go_reason_of(const struct go_text *s)
{
	static const struct {
		const char *text;
		enum go_reason reason;
	} known[] = {
		{ "chan send", GO_REASON_SEND },
		{ "chan receive", GO_REASON_RECEIVE },
		{ "select", GO_REASON_SELECT },
		{ "sync", GO_REASON_SYNC },
		{ "sync.(*Cond).Wait", GO_REASON_COND },
		{ "network", GO_REASON_NETWORK },
		{ "sleep", GO_REASON_SLEEP },
		{ "GC mark assist wait for work", GO_REASON_GC },
		{ "wait until GC ends", GO_REASON_GC },
	};

	for (size_t i = 0; s->p && i < sizeof(known) / sizeof(known[0]); i++)
		if (s->len == strlen(known[i].text) && !memcmp(s->p, known[i].text, s->len))
			return known[i].reason;
	return GO_REASON_OTHER;
}

struct go_event *go_add(struct go_trace *t, uint32_t lane)
{
	struct go_event *ev;

	XGROW(t->events, t->n_events, t->cap_events);
	ev = &t->events[t->n_events++];
	*ev = (struct go_event) { .seq = GO_NO_SEQ, .lane = lane };
	return ev;
}

void go_number_cpus(struct go_trace *t)
{
	uint32_t n = t->n_cpus ? t->n_cpus : 1;

	for (size_t i = 0; i < t->n_events; i++)
		if (t->events[i].cpu != GO_NO_CPU && t->events[i].cpu >= n)
			n = t->events[i].cpu + 1;
	for (size_t i = 0; i < t->n_events; i++)
		if (t->events[i].cpu == GO_NO_CPU)
			t->events[i].cpu = n;
	t->n_cpus = n;
}

void go_trace_free(struct go_trace *t)
{
	pairs_free(&t->goroutines);
	pairs_free(&t->strings);
	pairs_free(&t->stacks);
	free(t->text);
	free(t->stack);
	free(t->frames);
	free(t->events);
}
