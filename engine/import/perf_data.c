// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "import_feed.h"
#include "import_output.h"
#include "perf_order.h"
#include "perf_sample.h"
#include "perf_stacks.h"
#include "perf_zstd.h"
#include "trace/trace.h"

#define TEXT_MAX 1024u
/* Decompressed records that wait for the end of a round; above, the round ends. */
#define WAITING_MAX ((uint64_t)1 << 30)

/* Records that were decompressed, until the last of them is used. */
struct chunk {
	uint8_t *bytes; /* NULL: the file itself */
	size_t len;
	uint64_t waiting; /* records in the queue */
	uint32_t next_free;
};

struct perf_data {
	struct perf_file file;
	struct perf_order order;
	struct perf_kernel kernel;
	struct perf_maps maps;
	struct perf_modules modules;
	struct perf_stacks stacks;
	struct perf_zstd *zstd;
	struct chunk *chunks;
	size_t n_chunks, cap_chunks;
	uint32_t free_chunk; /* 0: none */
	uint64_t waiting_bytes;
	struct import_feed feed;
	struct import_output out;
	struct import_report *report;
	/* Events lost, as records with and without a time say. */
	uint64_t lost_in_time, lost_in_all;
	bool any_event, no_fields;
};

static void damaged(struct perf_data *d, const struct perf_record *r)
{
	perf_file_damaged(&d->file, r->body.p - 8);
}

/* ---- what processes map --------------------------------------------------------------------- */

static void add_map(struct perf_data *d, uint32_t tgid, struct perf_map *map,
		    const struct perf_identity *who, struct import_name path)
{
	/* "//anon", "[heap]", "anon_inode:[...]": no files. */
	bool is_file = path.len && (path.p[0] == '/' || perf_text_is(path, "[vdso]")) &&
		       !(path.len >= 2 && path.p[1] == '/');

	if (is_file) {
		map->module = perf_modules_id(&d->modules, who, path);
	}
	perf_maps_add(&d->maps, tgid, map);
}

/* Which file it is, in a MMAP2: its build ID, or where it lies. */
static bool take_identity(struct perf_bytes *b, uint16_t misc, struct perf_identity *who)
{
	struct perf_bytes id;
	uint32_t len;

	if (misc & PERF_MISC_MMAP_BUILD_ID) {
		if (!perf_u32(b, &len) || !perf_take(b, PERF_BUILD_ID_MAX, &id))
			return false;
		len &= 0xff;
		who->build_id_len = len < PERF_BUILD_ID_MAX ? len : PERF_BUILD_ID_MAX;
		memcpy(who->build_id, id.p, who->build_id_len);
		return true;
	}
	who->has_inode = true;
	return perf_u32(b, &who->major) && perf_u32(b, &who->minor) && perf_u64(b, &who->inode) &&
	       perf_u64(b, &who->generation);
}

static int take_map(struct perf_data *d, const struct perf_record *r)
{
	struct perf_bytes b = r->body;
	struct perf_identity who = { .inode = 0 };
	struct import_name path;
	uint32_t tgid, tid, prot, flags;
	struct perf_map map = { .module = 0 };
	uint64_t len;

	if (!perf_u32(&b, &tgid) || !perf_u32(&b, &tid) || !perf_u64(&b, &map.start) ||
	    !perf_u64(&b, &len) || !perf_u64(&b, &map.offset) || map.start + len < map.start)
		return -EBADMSG;
	if (r->type == PERF_MMAP2 &&
	    (!take_identity(&b, r->misc, &who) || !perf_u32(&b, &prot) || !perf_u32(&b, &flags)))
		return -EBADMSG;
	map.end = map.start + len;
	path = perf_text_in(b.p, perf_left(&b));
	if (!len)
		return 0;
	if ((r->misc & PERF_MISC_CPUMODE) == PERF_MISC_KERNEL) {
		if (who.build_id_len && !d->kernel.build_id_len && path.len && path.p[0] == '[') {
			d->kernel.build_id_len = who.build_id_len;
			memcpy(d->kernel.build_id, who.build_id, who.build_id_len);
		}
		perf_kernel_mapped(&d->kernel, path, map.start, map.end, map.offset);
		return 0;
	}
	if ((r->misc & PERF_MISC_CPUMODE) != PERF_MISC_USER || tgid >= TRACE_TID_LIMIT)
		return 0;
	add_map(d, tgid, &map, &who, path);
	return 0;
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool take_ids(struct perf_bytes *b, uint32_t ids[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!perf_u32(b, &ids[i]) || ids[i] >= TRACE_TID_LIMIT)
			return false;
	return true;
}

/* 0, -ENOMEM, -EBADMSG; ev->kind says what to do with it. */
static int take_comm(struct perf_data *d, const struct perf_record *r, struct import_event *ev)
{
	struct perf_bytes b = r->body;
	uint32_t ids[2]; /* process, thread */

	if (!take_ids(&b, ids, 2))
		return -EBADMSG;
	ev->kind = IMPORT_RENAME;
	ev->a = (struct import_task) { ids[1], ids[0], perf_text_in(b.p, perf_left(&b)) };
	if (r->misc & PERF_MISC_COMM_EXEC)
		perf_maps_exec(&d->maps, ids[0]);

	return 0;
}

static int take_fork(struct perf_data *d, const struct perf_record *r, struct import_event *ev)
{
	struct perf_bytes b = r->body;
	uint32_t ids[4]; /* process, its parent's; thread, its parent */

	if (!take_ids(&b, ids, 4))
		return -EBADMSG;
	ev->kind = IMPORT_FORK;
	ev->a = (struct import_task) { ids[3], ids[1], { NULL, 0 } };
	ev->b = (struct import_task) { ids[2], ids[0], { NULL, 0 } };
	/* perf writes forks of all threads of the start: their mappings follow. */
	if (!(ids[0] == ids[1]))
		perf_maps_fork(&d->maps, ids[1], ids[0]);

	return 0;
}

static int take_lost(const struct perf_record *r, struct import_event *ev)
{
	struct perf_bytes b = r->body;
	uint64_t id;

	if ((r->type == PERF_LOST && !perf_u64(&b, &id)) || !perf_u64(&b, &ev->n) ||
	    ev->n > UINT32_MAX)
		return -EBADMSG;
	ev->kind = IMPORT_LOST;
	return 0;
}

/* The user part of call chains before it, read when the thread returned to its program. */
static int take_deferred(struct perf_data *d, const struct perf_record *r)
{
	struct perf_bytes b = r->body, chain;
	uint64_t cookie, n;

	if (!perf_u64(&b, &cookie) || !perf_u64(&b, &n) || n > perf_left(&b) / 8 ||
	    !perf_take(&b, n * 8, &chain))
		return -EBADMSG;
	return perf_stacks_deferred(&d->stacks, cookie, chain);
}

/* ---- records in the order of time ----------------------------------------------------------- */

/* Another record than a sample. */
static int use_other(struct perf_data *d, const struct perf_attr *a, struct perf_record *r)
{
	struct import_event ev = { .kind = IMPORT_NO_EVENT, .tid = -1, .tgid = -1 };
	struct import_stack none = { .kstack = 0 };
	struct perf_sample s = { .cpu = -1 };
	int err = 0;

	if (a && !perf_sample_trailer(a, r, &s))
		return -EBADMSG;
	switch (r->type) {
	case PERF_MMAP:
	case PERF_MMAP2:
		return take_map(d, r);
	case PERF_KSYMBOL:
		return perf_kernel_symbol(&d->kernel, r->body);
	case PERF_CALLCHAIN_DEFERRED:
		return take_deferred(d, r);
	case PERF_COMM:
		err = take_comm(d, r, &ev);
		break;
	case PERF_FORK:
		err = take_fork(d, r, &ev);
		break;
	case PERF_LOST:
	case PERF_LOST_SAMPLES:
		err = take_lost(r, &ev);
		break;
	default:
		return 0;
	}
	ev.cpu = s.cpu < 0 ? 0 : s.cpu;
	ev.time_ns = s.time_ns <= INT64_MAX ? s.time_ns : 0;
	if (!err && ev.kind == IMPORT_LOST) {
		/* perf record adds up at the end what each event lost, without a time. */
		*(ev.time_ns ? &d->lost_in_time : &d->lost_in_all) += ev.n;
		if (!ev.time_ns)
			return 0;
	}
	return err ? err : import_feed_event(&d->feed, &ev, &none);
}

static bool uses_stack(enum import_kind kind)
{
	return kind == IMPORT_SWITCH || kind == IMPORT_WAKING || kind == IMPORT_WAKEUP ||
	       kind == IMPORT_WAKEUP_NEW || kind == IMPORT_SAMPLE || kind == IMPORT_OFF_CPU;
}

/*
 * Since perf 6.16 the BPF program writes a sample of off-CPU time itself, as raw data: process,
 * thread, time, call chain. tools/perf/util/evsel.c, __set_offcpu_sample().
 */
static bool take_off_cpu(struct perf_sample *s, struct import_event *ev)
{
	struct perf_bytes b = s->raw;
	uint32_t ids[2];
	uint64_t n;

	if (!take_ids(&b, ids, 2) || !perf_u64(&b, &ev->n) || !perf_u64(&b, &n) ||
	    n > perf_left(&b) / 8 || !perf_take(&b, n * 8, &s->chain))
		return false;
	ev->tgid = s->tgid = (int32_t)ids[0];
	ev->tid = s->tid = (int32_t)ids[1];
	return true;
}

static int use_sample(struct perf_data *d, const struct perf_attr *a, const struct perf_record *r)
{
	uint16_t mode = r->misc & PERF_MISC_CPUMODE;
	struct import_stack stack = { .kstack = 0 };
	struct import_event ev = { .kind = IMPORT_OTHER };
	struct perf_sample s;
	int err = 0;

	if (!a || !perf_sample_read(a, r, &s) ||
	    (s.time_ns > INT64_MAX && a->kind != IMPORT_OFF_CPU))
		return -EBADMSG;
	d->any_event = true;
	if (s.cpu < 0 || !a->time_at || !(a->sample_type & PERF_BIT_TID)) {
		d->no_fields = true;
		return 0;
	}
	/* Those of a virtual machine's kernel and programs are not this machine's. */
	if (mode < PERF_MISC_GUEST)
		ev.kind = a->kind;
	ev.cpu = s.cpu;
	ev.time_ns = s.time_ns;
	ev.tid = s.tid;
	ev.tgid = s.tgid;
	ev.event = a->name;
	ev.is_cycles = a->is_cycles;
	ev.n = s.period;
	if (ev.kind == IMPORT_OFF_CPU && perf_left(&s.raw))
		ev.kind = take_off_cpu(&s, &ev) ? IMPORT_OFF_CPU : IMPORT_OTHER;
	if (ev.kind != IMPORT_OTHER && a->tracepoint &&
	    !perf_tracepoint_read(a->tracepoint, s.raw, &ev))
		return -EBADMSG;
	if (ev.kind == IMPORT_SAMPLE && ev.tid >= 0)
		ev.a = (struct import_task) { (uint32_t)ev.tid, 0, { NULL, 0 } };
	if (uses_stack(ev.kind)) {
		d->report->user_copies |= s.has_user_copy;
		err = perf_stacks_read(&d->stacks, s.tgid < 0 ? 0 : (uint32_t)s.tgid,
				       !a->tracepoint, s.chain, &stack);
	}
	return err ? err : import_feed_event(&d->feed, &ev, &stack);
}

/* Uses a record. Returns 0 or a negative errno or enum import_error; damage is counted. */
static int use_record(struct perf_data *d, struct perf_record *r)
{
	const struct perf_attr *a;
	int err;

	if (d->file.is_stale)
		perf_file_kinds(&d->file);
	a = perf_file_attr(&d->file, r);
	err = r->type == PERF_SAMPLE ? use_sample(d, a, r) : use_other(d, a, r);
	if (err != -EBADMSG)
		return err;
	damaged(d, r);
	/* It may have been a switch. */
	d->feed.lost += r->type == PERF_SAMPLE;
	return 0;
}

static void release_chunk(struct perf_data *d, uint32_t id)
{
	struct chunk *c = &d->chunks[id];

	d->waiting_bytes -= c->len;
	free(c->bytes);
	*c = (struct chunk) { .next_free = d->free_chunk };
	d->free_chunk = id;
}

/* Uses all that is due. */
static int use_round(struct perf_data *d, bool all)
{
	const struct perf_queued *q;
	int err = 0;

	perf_order_round(&d->order, all);
	while (!err && (q = perf_order_next(&d->order))) {
		struct chunk *c = &d->chunks[q->chunk];
		/* It was a whole record when it was queued. */
		struct perf_bytes b = { q->record, q->record + UINT16_MAX };
		struct perf_record r;

		(void)perf_record_take(&b, &r);
		err = use_record(d, &r);
		if (q->chunk && !--c->waiting)
			release_chunk(d, q->chunk);
	}
	return err;
}

/* ---- records as they stand in the file ------------------------------------------------------ */

/* Queues a record, or uses it at once if it has no time: it is of the state at the start. */
static int take_record(struct perf_data *d, struct perf_record *r, uint32_t chunk)
{
	const struct perf_attr *a = perf_file_attr(&d->file, r);
	struct perf_queued q = { .record = r->body.p - 8, .chunk = chunk };

	if (!a || !perf_sample_time(a, r, &q.time_ns) || !q.time_ns || q.time_ns == UINT64_MAX)
		return use_record(d, r);
	d->chunks[chunk].waiting++;
	perf_order_put(&d->order, &q);
	return 0;
}

/* A place for decompressed records: its number. */
static uint32_t new_chunk(struct perf_data *d)
{
	uint32_t id = d->free_chunk;

	if (id) {
		d->free_chunk = d->chunks[id].next_free;
	} else {
		XGROW(d->chunks, d->n_chunks, d->cap_chunks);
		id = (uint32_t)d->n_chunks++;
	}
	d->chunks[id] = (struct chunk) { .bytes = NULL };
	return id;
}

static int take_tool_record(struct perf_data *d, struct perf_record *r);

static int take_decompressed(struct perf_data *d, struct perf_bytes b, uint32_t chunk)
{
	struct perf_record r;
	int err = 0;

	while (!err && perf_record_take(&b, &r)) {
		if (r.type < PERF_FIRST_OF_TOOL)
			err = take_record(d, &r, chunk);
		else if (r.type == PERF_FINISHED_ROUND)
			err = take_tool_record(d, &r);
		else
			damaged(d, &r);
	}
	if (!err && perf_left(&b))
		perf_file_damaged(&d->file, NULL);
	return err;
}

static int take_compressed(struct perf_data *d, const struct perf_record *r)
{
	struct perf_bytes piece = r->body;
	uint64_t len;
	struct chunk *c;
	uint32_t id;
	int err;

	if (r->type == PERF_COMPRESSED2 &&
	    (!perf_u64(&piece, &len) || !perf_take(&piece, len, &piece)))
		return -EBADMSG;
	err = d->zstd ? 0 : perf_zstd_new(&d->zstd);
	if (err)
		return err == -ENOTSUP ? -IMPORT_E_PERF_ZSTD : err;
	id = new_chunk(d);
	c = &d->chunks[id];
	/* Not to be released while its records are read. */
	c->waiting = 1;
	err = perf_zstd_next(d->zstd, piece, &c->bytes, &c->len);
	if (err) {
		release_chunk(d, id);
		return err;
	}
	d->waiting_bytes += c->len;
	err = take_decompressed(d, (struct perf_bytes) { c->bytes, c->bytes + c->len }, id);
	if (!--d->chunks[id].waiting)
		release_chunk(d, id);
	if (!err && d->waiting_bytes > WAITING_MAX)
		err = use_round(d, true);
	return err;
}

static int take_tool_record(struct perf_data *d, struct perf_record *r)
{
	int err;

	switch (r->type) {
	case PERF_FINISHED_ROUND:
		return use_round(d, false);
	case PERF_COMPRESSED:
	case PERF_COMPRESSED2:
		err = take_compressed(d, r);
		break;
	default:
		err = perf_file_define(&d->file, r);
	}
	if (err != -EBADMSG)
		return err;
	damaged(d, r);
	return 0;
}

static int read_records(struct perf_data *d)
{
	struct perf_record r;
	int err = 0;

	import_feed_command(&d->feed, d->file.arguments, d->file.n_arguments);

	while (!err && perf_file_next(&d->file, &r))
		err = r.type < PERF_FIRST_OF_TOOL ? take_record(d, &r, 0) : take_tool_record(d, &r);
	if (!err)
		err = use_round(d, true);
	/* The kernel tells of a loss with the next event: what it did not tell of came last. */
	if (d->lost_in_all > d->lost_in_time)
		d->feed.lost += d->lost_in_all - d->lost_in_time;
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool records(const struct perf_file *f, enum import_kind kind)
{
	for (size_t i = 0; i < f->n_attrs; i++)
		if (f->attrs[i].kind == kind)
			return true;
	return false;
}

static int read_all(struct perf_data *d)
{
	struct import_report *r = d->report;
	int err = 0;

	if (!d->file.is_pipe) {
		perf_file_kinds(&d->file);
		if (!records(&d->file, IMPORT_SWITCH) && !records(&d->file, IMPORT_OFF_CPU))
			return -IMPORT_E_PERF_SWITCHES;
	}
	err = read_records(d);
	if (err == -IMPORT_E_TIMES)
		err = -IMPORT_E_PERF_TIMES;
	if (!err) {
		err = encoder_error(d->out.enc);
	}
	if (!err && !r->switches && !r->off_cpu)
		err = d->no_fields ? -IMPORT_E_PERF_FIELDS : -IMPORT_E_PERF_SWITCHES;
	return err;
}

/* The command line of perf. */
static void join_arguments(const struct perf_file *f, char text[TEXT_MAX])
{
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < f->n_arguments && at < TEXT_MAX; i++)
		at += (size_t)snprintf(text + at, TEXT_MAX - at, "%s%.*s", i ? " " : "",
				       (int)f->arguments[i].len, f->arguments[i].p);
}

static const char *copy_of(struct import_name s, char text[TEXT_MAX])
{
	snprintf(text, TEXT_MAX, "%.*s", (int)(s.len < TEXT_MAX ? s.len : TEXT_MAX - 1),
		 s.len ? s.p : "");
	return text;
}

static int finish(struct perf_data *d, int64_t written_ns, struct trace_bytes *out)
{
	char host[TEXT_MAX], release[TEXT_MAX], arch[TEXT_MAX], command[TEXT_MAX];
	char version[TEXT_MAX], tool[TEXT_MAX + 8];
	const struct perf_file *f = &d->file;
	struct import_report *r = d->report;
	struct chainlog_info info = {
		.host = copy_of(f->host, host),
		.release = copy_of(f->release, release),
		.arch = copy_of(f->arch, arch),
		.options = command,
		.tool = tool,
		.cpus = f->cpus > d->feed.n_cpus ? f->cpus : (uint32_t)d->feed.n_cpus,
		.wall_ns = f->wall_ns,
		.parts = d->stacks.any_kernel | (uint32_t)d->stacks.any_user << 1,
		.aux = d->feed.migrations ? 1u << CHAINLOG_QUEUE : 0,
	};

	join_arguments(f, command);
	snprintf(tool, sizeof(tool), "perf%s%s", f->version.len ? " " : "",
		 copy_of(f->version, version));
	r->no_stacks = !info.parts;
	r->files_without_id = perf_modules_define(&d->modules, f, written_ns);
	r->kernel_names = d->kernel.names;
	r->maps_full = d->maps.is_full;
	r->bad_lines = f->bad_records;
	r->bad_offset = f->damage_offset;
	r->ends_in_line = f->is_cut;
	import_feed_end(&d->feed);
	return import_output_end(&d->out, &info, out);
}

static void release(struct perf_data *d)
{
	for (size_t i = 0; i < d->n_chunks; i++)
		free(d->chunks[i].bytes);
	free(d->chunks);
	perf_zstd_free(d->zstd);
	import_output_free(&d->out);
	import_feed_free(&d->feed);
	perf_stacks_free(&d->stacks);
	perf_modules_free(&d->modules);
	perf_maps_free(&d->maps);
	perf_kernel_free(&d->kernel);
	perf_order_free(&d->order);
	perf_file_free(&d->file);
	free(d);
}

int perf_data_import(const struct import_input *s, struct trace_bytes *out,
		     struct import_report *report)
{
	struct perf_data *d = xcalloc(1, sizeof(*d));
	int err;

	*report = (struct import_report) { .source = IMPORT_FROM_PERF_DATA };
	d->report = d->feed.report = d->feed.samples.report = report;
	d->feed.samples.wanted = s->sample_event;
	err = perf_file_open(&d->file, s->p, s->len);
	if (!err) {
		import_output_begin(&d->out);
	}
	d->feed.enc = d->stacks.enc = d->modules.enc = d->out.enc;
	d->stacks.file = &d->file;
	d->stacks.kernel = &d->kernel;
	d->stacks.maps = &d->maps;
	d->stacks.modules = &d->modules;
	/* The file itself. */
	if (!err)
		XGROW(d->chunks, 0, d->cap_chunks);
	if (!err) {
		d->chunks[d->n_chunks++] = (struct chunk) { .bytes = NULL };
		err = read_all(d);
	}
	if (!err)
		err = finish(d, s->written_ns, out);
	release(d);
	return err;
}
