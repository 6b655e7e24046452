// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the sound blocks of a trace in its bytes, and reads them, all but definitions. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/compare.h"
#include "base/cpus.h"
#include "common/xalloc.h"
#include "common/crc32c.h"
#include "common/event_read.h"
#include "trace_private.h"

/* ---- blocks -------------------------------------------------------------------------------- */

struct block {
	const uint8_t *payload; /* borrowed from the input */
	uint32_t len;		/* payload bytes */
	uint32_t type;		/* enum chainlog_block, or one that this version does not know */
	uint64_t offset;	/* of the header, bytes from the start of the input */
};

enum block_status {
	BLOCK_SOUND,
	BLOCK_CUT,	   /* the input ends inside it */
	BLOCK_NO_SYNC,	   /* no block begins here */
	BLOCK_BAD_HEADER,  /* impossible length, type or zero field */
	BLOCK_BAD_VERSION, /* sound, but of another version of the format */
	BLOCK_BAD_CRC,
};

/*
 * Walks over the sound blocks of [base, base + len). budget limits the bytes spent on the CRC of
 * damaged blocks: without it, crafted input could cost the square of its length.
 */
struct block_scan {
	const uint8_t *base;
	size_t len, at;
	uint64_t budget;
	/* The bytes that the last block_next() skipped; skipped is 0 if there were none. */
	size_t skip_at, skipped;
	enum block_status why; /* the damage at skip_at */
};

/* The damage in a few words. */
static const char *const status_texts[] = {
	[BLOCK_CUT] = "the file ends in the middle of a block",
	[BLOCK_NO_SYNC] = "bytes that are no block",
	[BLOCK_BAD_HEADER] = "a block header with impossible values",
	[BLOCK_BAD_VERSION] = "a block of an unknown version of the format",
	[BLOCK_BAD_CRC] = "a block whose checksum does not match",
};

/* Checks the block at p; fills *b (all but the offset) if it is sound. */
static enum block_status block_check(const uint8_t *p, const uint8_t *end, struct block *b)
{
	size_t left = (size_t)(end - p);
	uint8_t sync[4];
	uint32_t crc;

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	if (memcmp(p, sync, left < sizeof(sync) ? left : sizeof(sync)))
		return BLOCK_NO_SYNC;
	if (left < CHAINLOG_HEADER_SIZE)
		return BLOCK_CUT;
	b->type = p[CHAINLOG_OFF_TYPE];
	b->len = chainlog_get_le32(p + CHAINLOG_OFF_LEN);
	b->payload = p + CHAINLOG_HEADER_SIZE;
	if (!b->type || p[CHAINLOG_OFF_ZERO] || p[CHAINLOG_OFF_ZERO + 1] ||
	    b->len > CHAINLOG_PAYLOAD_MAX)
		return BLOCK_BAD_HEADER;
	if (b->len > left - CHAINLOG_HEADER_SIZE)
		return BLOCK_CUT;
	crc = crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), b->payload, b->len);
	if (crc != chainlog_get_le32(p + CHAINLOG_OFF_CRC))
		return BLOCK_BAD_CRC;
	if (!p[CHAINLOG_OFF_VERSION] || p[CHAINLOG_OFF_VERSION] > CHAINLOG_VERSION)
		return BLOCK_BAD_VERSION;
	return BLOCK_SOUND;
}

static void block_scan_init(struct block_scan *s, const void *p, size_t len)
{
	*s = (struct block_scan) {
		.base = p,
		.len = len,
		/* A few megabytes for small inputs; else a small multiple of reading it once. */
		.budget = 16 * (uint64_t)len + 16 * (uint64_t)CHAINLOG_PAYLOAD_MAX,
	};
}

/* Where the next sync word may begin, at or after at; len if nowhere. */
static size_t find_sync(const struct block_scan *s, size_t at)
{
	uint8_t sync[4];
	const uint8_t *p;

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	if (at >= s->len)
		return s->len;
	p = memmem(s->base + at, s->len - at, sync, sizeof(sync));
	return p ? (size_t)(p - s->base) : s->len;
}

/* The next sound block; false at the end of the input (which may have skipped bytes, too). */
static bool block_next(struct block_scan *s, struct block *b)
{
	const uint8_t *end = s->base + s->len;
	enum block_status status;
	size_t at = s->at;

	s->skip_at = at;
	s->skipped = 0;
	s->why = BLOCK_SOUND;
	while (at < s->len) {
		status = block_check(s->base + at, end, b);
		if (status == BLOCK_SOUND) {
			b->offset = at;
			s->skipped = at - s->skip_at;
			s->at = at + CHAINLOG_HEADER_SIZE + b->len;
			return true;
		}
		if (s->why == BLOCK_SOUND)
			s->why = status;
		if (status == BLOCK_BAD_CRC || status == BLOCK_BAD_VERSION) {
			if (b->len > s->budget)
				break;
			s->budget -= b->len;
		}
		at = find_sync(s, at + 1);
	}
	s->at = s->len;
	s->skipped = s->len - s->skip_at;
	return false;
}

/* ---- damage -------------------------------------------------------------------------------- */

void trace_note_damage(struct trace *t, uint64_t offset, uint64_t bytes, uint64_t blocks,
		       const char *what)
{
	if (!t->damage.what || offset < t->damage.first_offset) {
		t->damage.what = what;
		t->damage.first_offset = offset;
	}
	t->damage.bytes += bytes;
	t->damage.blocks += blocks;
}

void trace_note_skip(struct trace *t, uint64_t offset, bool at_end)
{
	XAPPEND(t->skips, t->n_skips, t->cap_skips) = (struct skipped) { offset, at_end };
}

void trace_note_loss(struct trace *t, uint32_t cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	XAPPEND(t->losses, t->n_losses, t->cap_losses) =
		(struct trace_loss) { first_ns, last_ns, n, cpu };
}

/* ---- INFO and END -------------------------------------------------------------------------- */

/* Takes one tag, length, value off [*p, end); false if it does not fit. */
static bool get_tag(const uint8_t **p, const uint8_t *end, uint64_t *tag, const uint8_t **value,
		    uint64_t *len)
{
	const uint8_t *q = chainlog_get_varint(*p, end, tag);

	if (q)
		q = chainlog_get_varint(q, end, len);
	if (!q || *len > (uint64_t)(end - q))
		return false;
	*value = q;
	*p = q + *len;
	return true;
}

static uint32_t clamp32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* Reads numbers into v[tag], and the texts of INFO. What is above is a later version's. */
static int load_tags(struct trace *t, const struct block *b, uint64_t v[TRACE_TAGS])
{
	enum {
		TEXTS = 1u << CHAINLOG_INFO_HOST | 1u << CHAINLOG_INFO_RELEASE |
			1u << CHAINLOG_INFO_ARCH | 1u << CHAINLOG_INFO_OPTIONS |
			1u << CHAINLOG_INFO_TOOL,
	};
	const uint8_t *p = b->payload, *end = p + b->len, *value;
	uint64_t tag, len, number = 0;

	while (p < end) {
		if (!get_tag(&p, end, &tag, &value, &len))
			return -EBADMSG;
		if (!tag || tag >= TRACE_TAGS)
			continue;
		if (b->type == CHAINLOG_BLOCK_INFO && TEXTS >> tag & 1) {
			free(t->info_text[tag]);
			t->info_text[tag] = xstrndup((const char *)value, len);
			continue;
		}
		if (chainlog_get_varint(value, value + len, &number) != value + len)
			return -EBADMSG;
		v[tag] = number;
	}
	return 0;
}

static int load_info(struct trace *t, const struct block *b)
{
	uint64_t v[TRACE_TAGS] = { [CHAINLOG_INFO_START] = UINT64_MAX };
	int err = load_tags(t, b, v);

	t->info.cpus = clamp32(v[CHAINLOG_INFO_CPUS]);
	t->has_start = v[CHAINLOG_INFO_START] <= INT64_MAX;
	t->info.start_ns = t->has_start ? v[CHAINLOG_INFO_START] : 0;
	t->info.wall_ns = (int64_t)v[CHAINLOG_INFO_WALL];
	t->info.recorder_tgid = clamp32(v[CHAINLOG_INFO_TGID]);
	t->info.parts = clamp32(v[CHAINLOG_INFO_PARTS]);
	t->info.command_tgid = clamp32(v[CHAINLOG_INFO_COMMAND]);
	t->info.aux = clamp32(v[CHAINLOG_INFO_AUX]);
	t->info.light_ns = v[CHAINLOG_INFO_LIGHT];
	return err;
}

static int load_end(struct trace *t, const struct block *b)
{
	uint64_t v[TRACE_TAGS] = { [CHAINLOG_END_AUX_EVENTS] = UINT64_MAX };
	int err = load_tags(t, b, v);

	t->info.end_ns = v[CHAINLOG_END_TIME] > INT64_MAX ? 0 : v[CHAINLOG_END_TIME];
	t->end_events = v[CHAINLOG_END_EVENTS];
	t->info.kernel_events = v[CHAINLOG_END_KERNEL];
	t->info.sideband_lost = v[CHAINLOG_END_SIDEBAND_LOST];
	t->end_aux = v[CHAINLOG_END_AUX_EVENTS];
	t->info.kernel_aux = v[CHAINLOG_END_AUX_KERNEL];
	memcpy(t->info.left_out, v + CHAINLOG_END_UNTOLD, sizeof(t->info.left_out));
	t->info.complete = !err;
	return err;
}

/* ---- EVENTS and the others ----------------------------------------------------------------- */

/* An EVENTS or AUX_EVENTS block, and the result of decoding it. */
struct events_check {
	struct block block;
	struct chainlog_events_head head;
	uint32_t of[EVENT_KINDS]; /* events by kind */
	uint64_t aux_lost;
	uint32_t max_tid;
	int ret;      /* 0, -EBADMSG or -ENOMEM */
	bool no_head; /* not even its head could be read */
};

/* All blocks of events of a trace, to be decoded by as many threads as there are CPUs. */
struct events_checks {
	struct events_check *checks; /* in file order */
	size_t n, cap;
	atomic_size_t next; /* the check that the next free thread takes */
};

static bool is_aux(const struct events_check *c)
{
	return c->block.type == CHAINLOG_BLOCK_AUX_EVENTS;
}

static void note_tid(struct events_check *c, uint32_t tid)
{
	if (tid > c->max_tid)
		c->max_tid = tid;
}

/* Reads a block to its end, so that no later reader meets a malformed event. */
static void check_events(struct chainlog_reader *r, struct events_check *c)
{
	const uint8_t *p = c->block.payload, *end = p + c->block.len;
	struct event ev, aux;

	c->no_head = !chainlog_get_head(p, end, &c->head);
	if (c->no_head)
		return;
	c->ret = chainlog_reader_begin(r, is_aux(c), p, end);
	if (c->ret)
		return;
	while (is_aux(c) && (c->ret = chainlog_read_aux(r, &aux)) > 0) {
		c->of[aux.kind == EVENT_WOKEN_READY ? EVENT_READY : aux.kind]++;
		note_tid(c, aux.tid);
		note_tid(c, aux.other);
		if (aux.kind == EVENT_AUX_LOST)
			c->aux_lost += aux.lost.n;
	}
	/* What is not looked at here is not even stored. */
	while (!is_aux(c) && (c->ret = chainlog_read_event(r, &ev)) > 0) {
		c->of[ev.kind]++;
		if (ev.kind == CHAINLOG_EXEC)
			note_tid(c, ev.other);
	}
	for (uint32_t ref = 1; ref <= r->n_threads; ref++)
		note_tid(c, r->threads[ref].tid);
}

static void *check_some(void *arg)
{
	struct chainlog_reader reader = { .p = NULL };
	struct events_checks *all = arg;
	size_t i;

	while ((i = atomic_fetch_add(&all->next, 1)) < all->n)
		check_events(&reader, &all->checks[i]);
	chainlog_reader_free(&reader);
	return NULL;
}

static void check_all(struct events_checks *all)
{
	/* A thread for a block or two costs more than it saves. */
	uint32_t wanted = (uint32_t)(all->n / 4 < CPUS_USED_MAX ? all->n / 4 : CPUS_USED_MAX);

	workers_run(all, 0, cpus_usable(wanted), check_some);
}

/* Looks at the heads of the blocks only. */
static void check_heads(struct events_checks *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct events_check *c = &all->checks[i];
		const uint8_t *p = c->block.payload, *end = p + c->block.len;

		p = chainlog_get_head(p, end, &c->head);
		c->no_head = !p;
		/* A block without events is not read later: check here that it ends. */
		if (p && !c->head.count && (p != end || c->head.first_ns != c->head.last_ns))
			c->ret = -EBADMSG;
	}
}

static int take_events(struct trace *t, const struct events_check *c)
{
	uint64_t bytes = CHAINLOG_HEADER_SIZE + (uint64_t)c->block.len;

	if (c->ret == -ENOMEM)
		return c->ret;
	if (is_aux(c) && (c->no_head || c->ret)) {
		/* What it held is not known; no time becomes unknown by that. */
		trace_note_damage(t, c->block.offset, bytes, 1,
				  "a malformed block of samples or the like");
		return 0;
	}
	if (c->no_head) {
		trace_note_damage(t, c->block.offset, bytes, 1,
				  "an events block with an impossible head");
		trace_note_skip(t, c->block.offset, false);
		return 0;
	}
	if (c->ret) {
		trace_note_damage(t, c->block.offset, bytes, 1,
				  "an events block with malformed events");
		t->bad_events += c->head.count;
		trace_note_loss(t, c->head.cpu, c->head.count, c->head.first_ns, c->head.last_ns);
		return 0;
	}
	if (!c->head.count)
		return 0;
	XAPPEND(t->blocks, t->n_blocks, t->cap_blocks) = (struct event_block_ref) {
		.payload = c->block.payload,
		.offset = c->block.offset,
		.first_ns = c->head.first_ns,
		.last_ns = c->head.last_ns,
		.len = c->block.len,
		.cpu = c->head.cpu,
		.count = c->head.count,
		.aux = is_aux(c),
	};
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		t->info.events_of[i] += c->of[i];
	t->info.aux_lost += c->aux_lost;
	if (is_aux(c))
		t->info.aux_events += c->head.count;
	else
		t->info.events += c->head.count;
	return 0;
}

static int by_offset(const void *pa, const void *pb)
{
	const struct skipped *a = pa, *b = pb;

	if (a->offset != b->offset)
		return compare_numbers(a->offset, b->offset);
	return a->at_end - b->at_end;
}

/* Takes in the blocks of events that were found. Returns 0 or -ENOMEM. */
static int load_events(struct trace *t, struct events_checks *all)
{
	uint32_t max_tid = 0;
	int err = 0;

	if (t->checked) {
		check_all(all);
	} else {
		check_heads(all);
		max_tid = TRACE_TID_LIMIT - 1;
	}
	for (size_t i = 0; i < all->n && !err; i++) {
		err = take_events(t, &all->checks[i]);
		if (all->checks[i].max_tid > max_tid)
			max_tid = all->checks[i].max_tid;
	}
	t->info.tids_end = max_tid + 1;
	/* Skips between blocks were noted before those of bad EVENTS blocks. */
	if (t->n_skips)
		qsort(t->skips, t->n_skips, sizeof(*t->skips), by_offset);
	return err;
}

static void note_events(struct events_checks *all, const struct block *b)
{
	XAPPEND(all->checks, all->n, all->cap) = (struct events_check) { .block = *b };
}

static void load_definitions(struct trace *t, const struct block *b)
{
	struct payload_list *l = &t->defs[b->type];

	XAPPEND(l->refs, l->n, l->cap) = (struct payload_ref) { b->payload, b->offset, b->len };
	l->bytes += b->len;
}

static int load_block(struct trace *t, struct events_checks *events, const struct block *b)
{
	int err = 0;

	switch (b->type) {
	case CHAINLOG_BLOCK_INFO:
		err = load_info(t, b);
		break;
	case CHAINLOG_BLOCK_EVENTS:
	case CHAINLOG_BLOCK_AUX_EVENTS:
		note_events(events, b);
		return 0;
	case CHAINLOG_BLOCK_END:
		err = load_end(t, b);
		break;
	default:
		/* Others are a later version's. */
		if (b->type < CHAINLOG_BLOCKS)
			load_definitions(t, b);
		return 0;
	}
	if (err == -EBADMSG) {
		trace_note_damage(t, b->offset, CHAINLOG_HEADER_SIZE + (uint64_t)b->len, 1,
				  b->type == CHAINLOG_BLOCK_END ? "a malformed END block"
								: "a malformed INFO block");
		err = 0;
	}
	return err;
}

/* Only the footer may follow the END block. */
static void check_footer(struct trace *t, const struct block *end_block)
{
	uint64_t at = end_block->offset + CHAINLOG_HEADER_SIZE + end_block->len;
	const uint8_t *p = t->bytes.base + at;

	if (at == t->bytes.len)
		return;
	if (t->bytes.len - at >= CHAINLOG_FOOTER_SIZE &&
	    chainlog_get_le64(p) == end_block->offset && !memcmp(p + 8, CHAINLOG_FOOTER_MAGIC, 8))
		at += CHAINLOG_FOOTER_SIZE;
	else if (t->bytes.len - at < CHAINLOG_FOOTER_SIZE)
		return; /* a cut footer is no damage: it only saves time */
	if (at != t->bytes.len)
		trace_note_damage(t, at, t->bytes.len - at, 0, "more bytes after the trace's end");
}

/* Why an input without a single sound block is not a trace. */
static int not_a_trace(const struct trace *t)
{
	struct block b;

	if (!t->bytes.len)
		return -ENODATA;
	if (block_check(t->bytes.base, t->bytes.base + t->bytes.len, &b) == BLOCK_BAD_VERSION)
		return -EPROTONOSUPPORT;
	return -EBADMSG;
}

static void note_skipped(struct trace *t, const struct block_scan *scan, bool at_end)
{
	bool cut = at_end && scan->why == BLOCK_CUT;

	if (!scan->skipped)
		return;
	trace_note_damage(t, scan->skip_at, scan->skipped, !cut, status_texts[scan->why]);
	trace_note_skip(t, scan->skip_at, cut);
}

int trace_load(struct trace *t)
{
	struct events_checks events = { .n = 0 };
	struct block_scan scan;
	struct block b;
	bool any = false;
	int err = 0;

	t->info.bytes = t->bytes.len;
	t->end_aux = UINT64_MAX;
	block_scan_init(&scan, t->bytes.base, t->bytes.len);
	while (!err && block_next(&scan, &b)) {
		if (any && b.type == CHAINLOG_BLOCK_INFO) {
			/* Its ids are its own: the two cannot be read as one. */
			trace_note_damage(t, b.offset, t->bytes.len - b.offset, 0,
					  "a second trace begins here");
			t->damage.cut = true;
			trace_note_skip(t, b.offset, true);
			goto out;
		}
		if (!any && !scan.skipped && b.type != CHAINLOG_BLOCK_INFO) {
			trace_note_damage(t, 0, 0, 0, "the beginning is missing");
			trace_note_skip(t, 0, false);
		}
		any = true;
		note_skipped(t, &scan, false);
		err = load_block(t, &events, &b);
		if (t->info.complete) {
			check_footer(t, &b);
			goto out;
		}
	}
	if (!err && !any)
		err = not_a_trace(t);
	if (!err) {
		note_skipped(t, &scan, true);
		t->damage.cut = true;
		trace_note_damage(t, t->bytes.len, 0, 0, "the file ends without an END block");
		trace_note_skip(t, t->bytes.len, true);
	}
out:
	if (!err)
		err = load_events(t, &events);
	free(events.checks);
	return err;
}
