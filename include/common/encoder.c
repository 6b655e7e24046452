// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "encoder_private.h"

/* Longer strings are cut: a demangled template name has no bound. */
#define STRING_MAX 4000u

int encoder_error(const struct encoder *e)
{
	return e->err;
}

int encoder_new(struct encoder **out, encoder_sink sink, void *ctx)
{
	struct encoder *e = calloc(1, sizeof(*e));

	*out = NULL;
	if (!e)
		return -ENOMEM;
	e->sink = sink;
	e->ctx = ctx;
	e->string_max = STRING_MAX;
	e->first_ns = UINT64_MAX;
	e->tids = calloc(CHAINLOG_TID_LIMIT / 8, 1);
	if (!e->tids) {
		free(e);
		return -ENOMEM;
	}
	*out = e;
	return 0;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->n_cpus; i++) {
		free(e->cpus[i].events);
		free(e->cpus[i].aux);
	}
	free(e->cpus);
	for (size_t i = 0; i < CHAINLOG_BLOCKS; i++)
		free(e->lists[i].block);
	recent_free(&e->strings);
	recent_free(&e->frames);
	recent_free(&e->stacks);
	recent_free(&e->objects);
	intern_free(&e->sources);
	free(e->source_modules);
	free(e->tids);
	free(e);
}

void encoder_keep_all(struct encoder *e)
{
	e->keep_all = true;
	e->string_max = ENCODER_LONG_STRING;
}

void encoder_define_elsewhere(struct encoder *e, const struct encoder_elsewhere *elsewhere)
{
	e->elsewhere = *elsewhere;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static int flush_events(struct encoder *e, struct chainlog_writer *w)
{
	const struct chainlog_events *made = &w->made;
	const uint8_t *block;
	size_t len;

	if (!made->count)
		return 0;
	if (made->first_ns < e->first_ns)
		e->first_ns = made->first_ns;
	if (made->last_ns > e->last_ns)
		e->last_ns = made->last_ns;
	for (uint32_t ref = 1; ref <= w->n_threads; ref++)
		encoder_count_thread(e, w->threads[ref].tid);
	block = chainlog_writer_finish(w, &len);
	return encoder_give(e, block, len);
}

static int flush_aux(struct encoder *e, struct chainlog_aux_writer *w)
{
	size_t len;
	const uint8_t *block = chainlog_aux_finish(w, &len);

	return encoder_give(e, block, len);
}

int encoder_flush(struct encoder *e)
{
	int err = 0;

	/* Definitions first, so that a cut right after this call leaves no event without them. */
	for (int type = 0; !err && type < CHAINLOG_BLOCKS; type++)
		err = encoder_flush_list(e, (enum chainlog_block)type);
	for (uint32_t i = 0; !err && i < e->n_cpus; i++)
		if (e->cpus[i].events)
			err = flush_events(e, e->cpus[i].events);
	for (uint32_t i = 0; !err && i < e->n_cpus; i++)
		if (e->cpus[i].aux)
			err = flush_aux(e, e->cpus[i].aux);
	return err;
}

/* ---- events -------------------------------------------------------------------------------- */

/* NULL: out of memory, or there cannot be such a CPU. */
static struct encoder_cpu *cpu_of(struct encoder *e, uint32_t cpu)
{
	struct encoder_cpu *cpus;

	if (cpu < e->n_cpus)
		return &e->cpus[cpu];
	if (cpu >= CHAINLOG_CPU_LIMIT)
		return NULL;
	cpus = realloc(e->cpus, (cpu + 1) * sizeof(*cpus));
	if (!cpus)
		return NULL;
	memset(cpus + e->n_cpus, 0, (cpu + 1 - e->n_cpus) * sizeof(*cpus));
	e->cpus = cpus;
	e->n_cpus = cpu + 1;
	return &cpus[cpu];
}

struct chainlog_writer *encoder_block(struct encoder *e, uint32_t cpu)
{
	return cpu < e->n_cpus ? e->cpus[cpu].events : NULL;
}

void encoder_count_events(struct encoder *e, uint64_t n)
{
	e->events += n;
}

/* A block with room for the event; the one before is finished. */
static int renew_events(struct encoder *e, struct encoder_cpu *c, uint32_t cpu)
{
	if (c->events)
		return flush_events(e, c->events);
	c->events = malloc(sizeof(*c->events));
	if (!c->events)
		return -ENOMEM;
	chainlog_writer_init(c->events, cpu);
	return 0;
}

static int put_event(struct encoder *e, struct encoder_cpu *c, const struct event *ev)
{
	int err = 0;

	if (!c->events || chainlog_writer_is_full(c->events, ev->time_ns))
		err = renew_events(e, c, ev->cpu);
	if (err)
		return err;
	e->events++;
	chainlog_write(c->events, ev);
	return 0;
}

static int put_aux(struct encoder *e, struct encoder_cpu *c, const struct event *ev)
{
	struct event shorter = *ev;
	int err = 0;

	if (!c->aux) {
		c->aux = malloc(sizeof(*c->aux));
		if (!c->aux)
			return -ENOMEM;
		chainlog_aux_init(c->aux, ev->cpu);
	}
	if (chainlog_events_full(&c->aux->made, ev->time_ns))
		err = flush_aux(e, c->aux);
	if (err)
		return err;
	e->aux_events++;
	if (ev->kind == EVENT_AUX_LOST) {
		e->aux_losses++;
		e->aux_lost += ev->lost.n;
	} else {
		encoder_count_thread(e, ev->tid);
		encoder_count_thread(e, ev->other);
	}
	/* The waking right before says which thread is meant. */
	if (ev->kind == EVENT_READY && c->events && c->events->made.count &&
	    c->events->made.last_ns == ev->time_ns && c->events->woken == ev->tid)
		shorter.kind = EVENT_WOKEN_READY;
	chainlog_aux_write(c->aux, &shorter);
	return 0;
}

int encoder_event(struct encoder *e, const struct event *ev)
{
	struct encoder_cpu *c = cpu_of(e, ev->cpu);
	int err = -EINVAL;

	if (!c)
		err = -ENOMEM;
	else if (ev->kind < CHAINLOG_EVENT_KINDS)
		err = put_event(e, c, ev);
	else if (event_fields(ev->kind)->type)
		err = put_aux(e, c, ev);
	return err ? encoder_note(e, err) : 0;
}

int encoder_aux_lost(struct encoder *e, uint32_t cpu, uint32_t kind, uint64_t n, uint64_t first_ns,
		     uint64_t last_ns)
{
	return encoder_event(e, &(struct event) {
					.time_ns = first_ns,
					.cpu = cpu,
					.kind = EVENT_AUX_LOST,
					.other = kind - CHAINLOG_AUX,
					.lost = { n, last_ns },
				});
}

void encoder_aux_counted(struct encoder *e, uint64_t kernel_aux)
{
	e->kernel_aux = kernel_aux;
}

void encoder_left_out(struct encoder *e, const uint64_t n[CHAINLOG_LEFT_OUTS])
{
	memcpy(e->left_out, n, sizeof(e->left_out));
}

/* ---- beginning and end --------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *p, unsigned int tag, uint64_t v)
{
	uint8_t number[CHAINLOG_VARINT_MAX] = { 0 };
	size_t len = (size_t)(chainlog_put_varint(number, v) - number);

	return encoder_put_bytes(chainlog_put_varint(p, tag), number, len);
}

static uint8_t *put_text(uint8_t *p, unsigned int tag, const char *s)
{
	size_t len = s ? strnlen(s, ENCODER_INFO_TEXT_MAX) : 0;

	return encoder_put_bytes(chainlog_put_varint(p, tag), s, len);
}

int encoder_info(struct encoder *e, const struct chainlog_info *i)
{
	uint8_t block[ENCODER_INFO_SIZE], *body = block + CHAINLOG_FRONT, *p = body;
	size_t len;

	p = put_text(p, CHAINLOG_INFO_HOST, i->host);
	p = put_text(p, CHAINLOG_INFO_RELEASE, i->release);
	p = put_text(p, CHAINLOG_INFO_ARCH, i->arch);
	p = put_text(p, CHAINLOG_INFO_OPTIONS, i->options);
	p = put_text(p, CHAINLOG_INFO_TOOL, i->tool);
	p = put_number(p, CHAINLOG_INFO_CPUS, i->cpus);
	p = put_number(p, CHAINLOG_INFO_START, i->start_ns);
	p = put_number(p, CHAINLOG_INFO_WALL, (uint64_t)i->wall_ns);
	p = put_number(p, CHAINLOG_INFO_TGID, i->recorder_tgid);
	if (i->command_tgid)
		p = put_number(p, CHAINLOG_INFO_COMMAND, i->command_tgid);
	p = put_number(p, CHAINLOG_INFO_PARTS, i->parts);
	if (i->aux)
		p = put_number(p, CHAINLOG_INFO_AUX, i->aux);
	if (i->light_ns)
		p = put_number(p, CHAINLOG_INFO_LIGHT, i->light_ns);
	p = chainlog_finish_block(CHAINLOG_BLOCK_INFO, NULL, 0, body, (size_t)(p - body), &len);
	return encoder_give(e, p, len);
}

int encoder_end(struct encoder *e, uint64_t end_ns, uint64_t kernel_events, uint64_t sideband_lost)
{
	uint8_t block[CHAINLOG_FRONT + (12 + CHAINLOG_LEFT_OUTS) * ENCODER_TAG_MAX];
	uint8_t *body = block + CHAINLOG_FRONT, *p = body;
	uint8_t footer[CHAINLOG_FOOTER_SIZE];
	int err = encoder_flush(e);
	size_t len;

	if (err)
		return err;
	chainlog_put_le64(footer, e->bytes);
	memcpy(footer + 8, CHAINLOG_FOOTER_MAGIC, 8);
	p = put_number(p, CHAINLOG_END_TIME, end_ns);
	p = put_number(p, CHAINLOG_END_EVENTS, e->events);
	p = put_number(p, CHAINLOG_END_LOST, e->lost);
	p = put_number(p, CHAINLOG_END_KERNEL, kernel_events);
	p = put_number(p, CHAINLOG_END_STACKS, e->stacks.last);
	p = put_number(p, CHAINLOG_END_FRAMES, e->frames.last);
	p = put_number(p, CHAINLOG_END_STRINGS, e->strings.last);
	p = put_number(p, CHAINLOG_END_THREADS, e->n_tids);
	p = put_number(p, CHAINLOG_END_SIDEBAND_LOST, sideband_lost);
	if (e->aux_events || e->kernel_aux) {
		p = put_number(p, CHAINLOG_END_AUX_EVENTS, e->aux_events);
		p = put_number(p, CHAINLOG_END_AUX_LOST, e->aux_lost);
		p = put_number(p, CHAINLOG_END_AUX_KERNEL, e->kernel_aux);
	}
	for (unsigned int i = 0; i < CHAINLOG_LEFT_OUTS; i++)
		if (e->left_out[i])
			p = put_number(p, CHAINLOG_END_UNTOLD + i, e->left_out[i]);
	p = chainlog_finish_block(CHAINLOG_BLOCK_END, NULL, 0, body, (size_t)(p - body), &len);
	err = encoder_give(e, p, len);
	return err ? err : encoder_give(e, footer, sizeof(footer));
}

void encoder_counts(const struct encoder *e, struct encoder_counts *out)
{
	*out = (struct encoder_counts) {
		.events = e->events,
		.first_ns = e->last_ns ? e->first_ns : 0,
		.last_ns = e->last_ns,
		.lost = e->lost,
		.aux = e->aux_events - e->aux_losses,
		.aux_lost = e->aux_lost,
		.bytes = e->bytes,
		.stacks = e->stacks.last,
		.frames = e->frames.last,
		.strings = e->strings.last,
	};
	memcpy(out->ends, e->ends, sizeof(out->ends));
}
