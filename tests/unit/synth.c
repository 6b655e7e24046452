// SPDX-License-Identifier: GPL-2.0-or-later
#include "synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "common/crc32c.h"

struct name {
	char *text;
	uint32_t frame;
};

struct synth {
	struct encoder *e;
	int has_info;
	uint8_t *bytes;
	size_t len, cap;
	struct name *names[2]; /* of kernel and of user frames */
	size_t n_names[2];
	uint32_t space, of_file[16]; /* of the process; of the files that frames are of */
	char files[16][64];
};

static int sink(void *ctx, const void *block, size_t len)
{
	struct synth *m = ctx;

	if (m->len + len > m->cap) {
		m->cap = (m->len + len) * 2;
		m->bytes = realloc(m->bytes, m->cap);
		MUST(m->bytes);
	}
	memcpy(m->bytes + m->len, block, len);
	m->len += len;
	return 0;
}

struct synth *synth_new(void)
{
	struct synth *m = calloc(1, sizeof(*m));

	MUST(m);
	MUST(!encoder_new(&m->e, sink, m));
	return m;
}

void synth_free(struct synth *m)
{
	encoder_free(m->e);
	for (int user = 0; user < 2; user++) {
		for (size_t i = 0; i < m->n_names[user]; i++)
			free(m->names[user][i].text);
		free(m->names[user]);
	}
	free(m->bytes);
	free(m);
}

void synth_info(struct synth *m, const struct chainlog_info *info)
{
	MUST(!m->has_info);
	m->has_info = 1;
	MUST(!encoder_info(m->e, info));
}

struct encoder *synth_encoder(struct synth *m)
{
	static const struct chainlog_info info = {
		.host = "testhost",
		.release = "6.1.0-test",
		.arch = "x86_64",
		.options = "chaincap -o trace.bin 10",
		.tool = "chaincap 0.1.0",
		.cpus = 2,
		.parts = 3,
	};

	if (!m->has_info)
		synth_info(m, &info);
	return m->e;
}

/* The address space of a file's frames. */
static uint32_t space_of(struct synth *m, const char *path)
{
	size_t i = 0;

	while (*m->files[i] && strcmp(m->files[i], path))
		MUST(++i < sizeof(m->files) / sizeof(*m->files));
	snprintf(m->files[i], sizeof(m->files[i]), "%s", path);
	if (!m->of_file[i])
		m->of_file[i] = encoder_space(m->e, 0, path);
	return m->of_file[i];
}

/*
 * "copy@liba": the symbol copy of the file /lib/liba. "mirror%/srv/feed.py:31": interpreted code,
 * the line 31 of mirror there; "mirror%/srv/feed.py", "mirror%": less is known; "%": nothing is.
 */
static uint32_t define_frame(struct synth *m, int user, const char *text, uint64_t addr)
{
	struct encoder *e = m->e;
	char *symbol = strdup(text), *place, *line, path[64];
	uint32_t space = user ? m->space : 0, module = 0, frame;
	uint64_t offset = 0;
	bool code;

	MUST(symbol);
	place = symbol + strcspn(symbol, "@%");
	code = *place == '%';
	if (*place) {
		*place++ = '\0';
		line = code ? strrchr(place, ':') : NULL;
		if (line) {
			*line++ = '\0';
			offset = strtoull(line, NULL, 10);
		}
		snprintf(path, sizeof(path), code ? "%s" : "/lib/%s", place);
		module = *path ? encoder_module(e, encoder_text(e, path), NULL, 0) : 0;
	}
	if (code)
		addr |= CHAINLOG_CODE_TAG;
	else if (module && user)
		space = space_of(m, path);
	frame = encoder_frame(e, space, addr);
	MUST(frame);
	if (!code || *symbol || module)
		MUST(!encoder_name(e, frame, *symbol ? encoder_text(e, symbol) : 0, module,
				   offset));
	free(symbol);
	return frame;
}

static uint32_t frame(struct synth *m, int user, const char *text, size_t len)
{
	struct encoder *e = synth_encoder(m);
	uint64_t base = user ? UINT64_C(0x400000) : UINT64_C(0xffffffff81000000);
	struct name *n;
	size_t i;

	for (i = 0; i < m->n_names[user]; i++) {
		n = &m->names[user][i];
		if (strlen(n->text) == len && !memcmp(n->text, text, len))
			return n->frame;
	}
	m->names[user] = realloc(m->names[user], (i + 1) * sizeof(*n));
	MUST(m->names[user]);
	n = &m->names[user][i];
	m->n_names[user]++;
	n->text = strndup(text, len);
	MUST(n->text);
	if (user && !m->space)
		m->space = encoder_space(e, 1, "/bin/made");
	n->frame = define_frame(m, user, n->text, base + 16 * (uint64_t)i);
	return n->frame;
}

static uint32_t stack(struct synth *m, int user, const char *text)
{
	uint32_t frames[CHAINLOG_STACK_MAX], id;
	int cut = *text == '+';
	size_t n = 0, len;

	text += cut;
	if (!*text)
		return 0;
	for (;; text += len + 1) {
		len = strcspn(text, ";");
		MUST(n < CHAINLOG_STACK_MAX);
		frames[n++] = frame(m, user, text, len);
		if (!text[len])
			break;
	}
	id = encoder_stack(m->e, frames, n, cut ? CHAINLOG_STACK_DEPTH : CHAINLOG_STACK_UNKNOWN);
	MUST(id);
	return id;
}

uint32_t synth_kstack(struct synth *m, const char *frames)
{
	return stack(m, 0, frames);
}

uint32_t synth_ustack(struct synth *m, const char *frames)
{
	return stack(m, 1, frames);
}

void synth_thread(struct synth *m, uint32_t tid, const char *name)
{
	struct encoder_thread t = { .tid = tid, .tgid = tid, .state = 'S' };

	t.name = encoder_text(synth_encoder(m), name);

	synth_thread_full(m, &t);
}

void synth_thread_full(struct synth *m, const struct encoder_thread *t)
{
	MUST(!encoder_thread(synth_encoder(m), t));
}

void synth_switch_full(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		       uint32_t next, const char *kstack, const char *ustack)
{
	uint32_t k = synth_kstack(m, kstack), u = synth_ustack(m, ustack);

	MUST(!encoder_event(synth_encoder(m), &(struct event) { .time_ns = ns,
								.cpu = cpu,
								.kind = CHAINLOG_SWITCH,
								.tid = prev,
								.state = state,
								.other = next,
								.kstack = k,
								.ustack = u }));
}

void synth_switch(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		  uint32_t next, const char *kstack)
{
	synth_switch_full(m, cpu, ns, prev, state, next, kstack, "");
}

void synth_waking_full(struct synth *m, uint32_t cpu, uint64_t ns, unsigned int kind,
		       uint32_t waker, uint32_t target, const char *kstack, const char *ustack)
{
	uint32_t k = synth_kstack(m, kstack), u = synth_ustack(m, ustack);

	MUST(!encoder_event(
		synth_encoder(m),
		&(struct event) { .time_ns = ns,
				  .cpu = cpu,
				  .kind = (uint8_t)(kind & CHAINLOG_KIND_MASK),
				  .flags = (uint8_t)(kind & ~(unsigned int)CHAINLOG_KIND_MASK),
				  .tid = waker,
				  .other = target,
				  .kstack = k,
				  .ustack = u }));
}

void synth_waking(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t waker, uint32_t target,
		  const char *kstack)
{
	synth_waking_full(m, cpu, ns, CHAINLOG_WAKING, waker, target, kstack, "");
}

static void at_stacks(struct synth *m, uint32_t cpu, uint64_t ns, enum event_kind kind,
		      uint32_t tid, const char *kstack, const char *ustack)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = (uint8_t)kind,
		.tid = tid,
		.kstack = synth_kstack(m, kstack),
		.ustack = synth_ustack(m, ustack),
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_ran(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kstack,
	       const char *ustack)
{
	at_stacks(m, cpu, ns, EVENT_SAMPLE, tid, kstack, ustack);
}

void synth_slept_at(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kstack,
		    const char *ustack)
{
	at_stacks(m, cpu, ns, EVENT_WAIT_STACKS, tid, kstack, ustack);
}

void synth_queued(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t queue,
		  bool woken)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_QUEUE,
		.tid = tid,
		.queue = { (uint64_t)queue << 1 | woken },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_taken(struct synth *m, uint32_t cpu, uint64_t ns, bool steal, uint64_t took_ns)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = steal ? EVENT_STEAL : EVENT_INTERRUPTS,
		.stolen = { took_ns },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_stacks_from(struct synth *m, uint32_t cpu, uint64_t ns, bool timers, uint64_t least_ns)
{
	struct event ev = { .time_ns = ns,
			    .cpu = cpu,
			    .kind = EVENT_STACKS_FROM,
			    .stacks_from = { least_ns, timers } };

	MUST(!encoder_event(synth_encoder(m), &ev));
}

static void of_thread(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t kind, uint32_t tid)
{
	struct event ev = { .time_ns = ns, .cpu = cpu, .kind = (uint8_t)kind, .tid = tid };

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_throttled(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	of_thread(m, cpu, ns, EVENT_THROTTLED, tid);
}

void synth_not_sent(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	of_thread(m, cpu, ns, EVENT_NOT_SENT, tid);
}

void synth_tcp_timer(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint64_t which,
		     uint64_t since_ns, uint64_t at_ns)
{
	struct event ev = { .time_ns = ns,
			    .cpu = cpu,
			    .kind = EVENT_TCP_TIMER,
			    .tid = tid,
			    .tcp_timer = { which, since_ns, at_ns } };

	MUST(!encoder_event(m->e, &ev));
}

void synth_unthrottled(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint64_t since_ns,
		       uint64_t until_ns, const char *whose)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_UNTHROTTLED,
		.tid = tid,
		.unthrottled = { *whose == '/' ? synth_group_object(m, whose, 0) : 0, since_ns,
				 until_ns,
				 *whose == 'd'	 ? CHAINLOG_QUOTA_DEADLINE
				 : *whose == 'r' ? CHAINLOG_QUOTA_REALTIME
						 : CHAINLOG_QUOTA_GROUP },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_holder(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t holder)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_HOLDER,
		.tid = tid,
		.other = holder,
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

uint32_t synth_group_object(struct synth *m, const char *path, uint64_t id)
{
	uint32_t object = encoder_object(
		synth_encoder(m),
		&(struct encoder_object) {
			.class = CHAINLOG_CLASS_GROUP, .name = path, .own = "", .inode = id });

	MUST(object);
	return object;
}

void synth_group(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *path,
		 bool process)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_GROUP,
		.tid = tid,
		.group = { synth_group_object(m, path, 0), process },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_recorder(struct synth *m, uint32_t cpu, uint64_t ns, uint64_t had_ns)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_RECORDER,
		.stolen = { had_ns },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

/* Sockets have an address of their own. */
static uint32_t object_of(struct encoder *e, const char *class, const char *name)
{
	const char *own = strcmp(class, "tcp") ? "" : "tcp own:1", *at = strchr(name, '<');
	const char *process = strchr(name, '@');
	char peer[128], end[128];
	/* It has no name of its own, but a process. */
	bool is_gil = !strcmp(class, "GIL");

	if (at && own[0]) {
		snprintf(peer, sizeof(peer), "%.*s", (int)strcspn(name, "@<"), name);
		snprintf(end, sizeof(end), "tcp %s", at + 1);
		name = peer;
		own = end;
	}
	return encoder_object(e, &(struct encoder_object) {
					 .class = class,
					 .name = is_gil ? "" : name,
					 .own = own,
					 .peer = is_gil	   ? (uint32_t)atoi(name)
						 : process ? (uint32_t)atoi(process + 1)
							   : 0,
					 .owner = 0,
				 });
}

void synth_waits_for(struct synth *m, uint32_t cpu, uint64_t ns, const char *class,
		     const char *name)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_WAITS_FOR,
		.awaited = { object_of(e, class, name) },
	};

	MUST(ev.awaited.object && !encoder_event(e, &ev));
}

void synth_ready(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *class,
		 const char *name)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_READY,
		.tid = tid,
		.awaited = { object_of(e, class, name) },
	};

	MUST(ev.awaited.object && !encoder_event(e, &ev));
}

void synth_stream(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t written,
		  uint32_t received, const char *socket)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_STREAM,
		.tid = tid,
		.stream = { *socket ? object_of(e, "tcp", socket) : 0, written, received },
	};

	MUST(!encoder_event(e, &ev));
}

void synth_work(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, unsigned int what,
		uint32_t queuer, uint64_t since_ns, const char *kernel, const char *user)
{
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_WORK,
		.tid = tid,
		.other = queuer,
		.kstack = synth_kstack(m, kernel),
		.ustack = synth_ustack(m, user),
		.work = { what, ns - since_ns },
	};

	MUST(!encoder_event(synth_encoder(m), &ev));
}

void synth_asks_disk(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, const char *kernel,
		     const char *user)
{
	at_stacks(m, cpu, ns, EVENT_DISK_REQUEST, tid, kernel, user);
}

void synth_disk_done(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid,
		     const struct synth_disk_done *d)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_DISK_DONE,
		.tid = tid,
		.disk_done = { .what = chainlog_disk_what(d->op, d->bytes),
			       .asked_ns = d->asked_ns,
			       .issued_ns = d->issued_ns,
			       .group = d->group ? synth_group_object(m, d->group, 0) : 0 },
	};

	ev.disk_done.disk = encoder_object(
		e, &(struct encoder_object) { .class = "disk", .name = d->disk, .own = "" });
	MUST(ev.disk_done.disk && !encoder_event(e, &ev));
}

static void put_request(struct synth *m, uint32_t cpu, uint64_t ns, unsigned int kind, uint32_t tid,
			const struct synth_request *r)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = (uint8_t)kind,
		.tid = tid,
		.kstack = synth_kstack(m, r->kstack ? r->kstack : ""),
		.ustack = synth_ustack(m, r->ustack ? r->ustack : ""),
		.request = { .connection = r->connection,
			     .flags = r->flags,
			     .arrival_ns = r->arrival_ns,
			     .taken_ns = r->taken_ns,
			     .answer_ns = r->answer_ns,
			     .bytes_read = r->bytes_read,
			     .bytes_written = r->bytes_written },
	};

	if (r->label)
		ev.request.label = object_of(e, CHAINLOG_CLASS_LABEL, r->label);
	else if (r->route)
		ev.request.label =
			encoder_object(e, &(struct encoder_object) { .class = CHAINLOG_CLASS_ROUTE,
								     .name = r->route,
								     .own = "",
								     .protocol = r->protocol });
	if (kind == EVENT_REQUEST)
		ev.other = r->reader;
	if (kind == EVENT_REQUEST_MORE)
		ev.request.arrival_ns = r->first_ns;
	else
		ev.request.endpoint = object_of(e, r->class, r->name);
	MUST(!encoder_event(e, &ev));
}

void synth_request(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t writer,
		   const struct synth_request *r)
{
	put_request(m, cpu, ns, EVENT_REQUEST, writer, r);
}

void synth_request_more(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t writer,
			const struct synth_request *r)
{
	put_request(m, cpu, ns, EVENT_REQUEST_MORE, writer, r);
}

void synth_request_open(struct synth *m, uint32_t cpu, uint64_t ns, const struct synth_request *r)
{
	put_request(m, cpu, ns, EVENT_REQUEST_OPEN, r->reader, r);
}

void synth_context(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid,
		   const uint64_t trace[2], uint64_t span, const char *route)
{
	struct encoder *e = synth_encoder(m);
	struct event ev = {
		.time_ns = ns,
		.cpu = cpu,
		.kind = EVENT_CONTEXT,
		.tid = tid,
		.context = { *route ? object_of(e, "route", route) : 0, trace[0], trace[1], span },
	};

	MUST(!encoder_event(e, &ev));
}

void synth_lost(struct synth *m, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	MUST(!encoder_lost(synth_encoder(m), cpu, n, first_ns, last_ns));
}

void synth_flush(struct synth *m)
{
	MUST(!encoder_flush(synth_encoder(m)));
}

void synth_end(struct synth *m, uint64_t ns)
{
	struct encoder_counts counts;

	encoder_counts(synth_encoder(m), &counts);
	encoder_aux_counted(m->e, counts.aux + counts.aux_lost);
	MUST(!encoder_end(m->e, ns, counts.events + counts.lost, 0));
}

uint8_t *synth_bytes(struct synth *m, size_t *len)
{
	*len = m->len;
	return m->bytes;
}

size_t synth_block(struct synth *m, enum chainlog_block type, size_t i, size_t *len)
{
	for (size_t at = 0; at + CHAINLOG_HEADER_SIZE <= m->len; at += *len) {
		*len = CHAINLOG_HEADER_SIZE + chainlog_get_le32(m->bytes + at + CHAINLOG_OFF_LEN);
		if (m->bytes[at + CHAINLOG_OFF_TYPE] == type && !i--)
			return at;
		if (m->bytes[at + CHAINLOG_OFF_TYPE] == CHAINLOG_BLOCK_END)
			break;
	}
	fprintf(stderr, "there is no block %zu of type %d\n", i, (int)type);
	abort();
}

void synth_cut_out(struct synth *m, size_t offset, size_t len)
{
	MUST(offset + len <= m->len);
	memmove(m->bytes + offset, m->bytes + offset + len, m->len - offset - len);
	m->len -= len;
}

void synth_add_block(struct synth *m, unsigned int type, const void *payload, size_t len)
{
	uint8_t head[CHAINLOG_HEADER_SIZE] = { 0 };
	uint32_t crc;

	chainlog_put_le32(head + CHAINLOG_OFF_SYNC, CHAINLOG_SYNC);
	head[CHAINLOG_OFF_TYPE] = (uint8_t)type;
	head[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
	chainlog_put_le32(head + CHAINLOG_OFF_LEN, (uint32_t)len);
	crc = crc32c(crc32c(0, head, CHAINLOG_OFF_CRC), payload, len);
	chainlog_put_le32(head + CHAINLOG_OFF_CRC, crc);
	sink(m, head, sizeof(head));
	if (len)
		sink(m, payload, len);
}

struct trace *synth_open(struct synth *m)
{
	struct trace *t;

	MUST(!trace_open_memory(&t, m->bytes, m->len));
	return t;
}

/* ---- a sample, and events as text --------------------------------------------------------- */

struct synth *synth_sample(void)
{
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);

	synth_thread(m, 1, "init");
	synth_switch(m, 0, 100, 0, 'R', 7, "");
	synth_switch(m, 1, 110, 0, 'R', 8, "");
	synth_switch_full(m, 1, 150, 8, 'S', 0, "schedule;read", "read;main");
	synth_waking(m, 0, 200, 7, 8, "wake;write");
	synth_flush(m);
	synth_switch(m, 1, 210, 0, 'R', 8, "");
	MUST(!encoder_event(e, &(struct event) { .time_ns = 250,
						 .cpu = 0,
						 .kind = CHAINLOG_FORK,
						 .tid = 7,
						 .other = 9,
						 .tgid = 7,
						 .string = encoder_text(e, "child") }));
	synth_waking_full(m, 0, 260, CHAINLOG_WAKING_NEW, 7, 9, "wake_new;fork", "fork;main");
	MUST(!encoder_event(e, &(struct event) { .time_ns = 300,
						 .cpu = 1,
						 .kind = CHAINLOG_EXEC,
						 .tid = 8,
						 .other = 8,
						 .string = encoder_text(e, "/bin/ls") }));
	synth_flush(m);
	MUST(!encoder_event(e, &(struct event) { .time_ns = 310,
						 .cpu = 0,
						 .kind = CHAINLOG_RENAME,
						 .tid = 7,
						 .string = encoder_text(e, "renamed") }));
	synth_waking(m, 1, 350, 8, 7, "wake;write");
	synth_switch(m, 0, 400, 7, 'D', 9, "io;read");
	MUST(!encoder_event(
		e, &(struct event) { .time_ns = 500, .cpu = 1, .kind = CHAINLOG_EXIT, .tid = 8 }));
	synth_end(m, 600);
	return m;
}

const char synth_sample_events[] = "100 switch 0 R>7\n"
				   "110 switch 0 R>8\n"
				   "150 switch 8 S>0 schedule;read read;main\n"
				   "200 waking 7>8 wake;write\n"
				   "210 switch 0 R>8\n"
				   "250 fork 7>9 of 7 'child'\n"
				   "260 new 7>9 wake_new;fork fork;main\n"
				   "300 exec 8>8 '/bin/ls'\n"
				   "310 rename 7 'renamed'\n"
				   "350 waking 8>7 wake;write\n"
				   "400 switch 7 D>9 io;read\n"
				   "500 exit 8\n";

static void print_stack(FILE *f, const struct trace *t, uint32_t id)
{
	struct trace_stack s = trace_stack(t, id);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *frame = trace_frame(t, s.frames[i]);

		fprintf(f, "%s%s", i ? ";" : " ", frame ? trace_string(t, frame->symbol) : "?");
	}
	if (s.cut)
		fputs("+", f);
}

/* The thread, and the other fields of a kind in their order, but stacks. */
static void print_fields(FILE *f, const struct trace *t, const struct event *ev)
{
	fprintf(f, " %u", ev->tid);
	for (const struct event_field *d = event_fields(ev->kind); d->type; d++) {
		uint64_t v = event_value(ev, d);
		const struct trace_object *o;

		if (d->type == FIELD_STACK || d->at == offsetof(struct event, tid))
			continue;
		o = d->type == FIELD_OBJECT ? trace_object(t, (uint32_t)v) : NULL;
		if (o)
			fprintf(f, " [%s %s]", trace_string(t, o->class), trace_string(t, o->name));
		else
			fprintf(f, " %llu", (unsigned long long)v);
	}
}

static void print_event(FILE *f, const struct trace *t, const struct event *ev)
{
	static const char *const kinds[EVENT_KINDS] = { "switch",
							"waking",
							"new",
							"fork",
							"exec",
							"rename",
							"exit",
							"lost",
#define EVENT(NAME, number, record, slices, shown, key, fields) [EVENT_##NAME] = shown,
#include "events.def"
							[EVENT_AUX_LOST] = "more-lost" };

	fprintf(f, "%llu %s", (unsigned long long)ev->time_ns, kinds[ev->kind]);
	if (ev->kind == EVENT_LOST) {
		fprintf(f, "-%llu n=%llu", (unsigned long long)ev->lost.last_ns,
			(unsigned long long)ev->lost.n);
		if (ev->cpu == EVENT_CPU_UNKNOWN)
			fputs(" cpu=?", f);
		else
			fprintf(f, " cpu=%u", ev->cpu);
	} else if (ev->kind == EVENT_AUX_LOST) {
		fprintf(f, "-%llu n=%llu %s", (unsigned long long)ev->lost.last_ns,
			(unsigned long long)ev->lost.n, kinds[EVENT_AUX + ev->other]);
	} else if (ev->kind >= EVENT_AUX) {
		print_fields(f, t, ev);
		print_stack(f, t, ev->kstack);
		print_stack(f, t, ev->ustack);
	} else {
		fprintf(f, " %u", ev->tid);
		if (ev->state)
			fprintf(f, " %c", ev->state);
		if (ev->kind <= EVENT_EXEC)
			fprintf(f, ">%u", ev->other);
		if (ev->kind == EVENT_FORK)
			fprintf(f, " of %u", ev->tgid);
		if (ev->string)
			fprintf(f, " '%s'", trace_string(t, ev->string));
		print_stack(f, t, ev->kstack);
		print_stack(f, t, ev->ustack);
	}
	fputc('\n', f);
}

char *synth_events_text(const struct trace *t)
{
	struct trace_cursor *c;
	struct event ev;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	MUST(f && !trace_cursor_new(&c, t));
	while (trace_cursor_next(c, &ev))
		print_event(f, t, &ev);
	MUST(!trace_cursor_error(c));
	trace_cursor_free(c);
	fclose(f);
	return text;
}
