// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * neutral - makes a recorded trace fit for publishing: every event, time, thread id and kernel
 * stack stays; of what belongs to programs that were merely running as well, nothing readable
 * does.
 *
 *	neutral IN OUT NAME...
 *
 * Threads called NAME, kernel threads and threads without a name keep what they are called, the
 * others become "other", lose their user stacks, what they wait for and what they exec. Of files
 * that do not belong to the distribution (/usr, /lib) only the last part of the path stays, of the
 * kernel's release its number. The command line loses the folders in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "common/encoder.h"
#include "recording.h"

struct neutral {
	const struct trace *trace;
	struct encoder *enc;
	FILE *out;
	char **keep;
	const char **name; /* by tid: what it is called now, NULL: not known */
	uint32_t *tgid;	   /* by tid */
	bool *kthread;	   /* by tid */
	/* By the old id: the new one, 0: not yet used. */
	uint32_t *stacks, *frames, *modules, *spaces;
	uint32_t modules_end, spaces_end;
	uint64_t aux; /* events of AUX_EVENTS so far */
};

static int to_file(void *ctx, const void *block, size_t len)
{
	return fwrite(block, 1, len, ctx) == len ? 0 : -EIO;
}

static bool is_kept(const struct neutral *n, uint32_t tid)
{
	if (!tid || n->kthread[tid] || !n->name[tid])
		return true;
	for (char **keep = n->keep; *keep; keep++)
		if (!strcmp(*keep, n->name[tid]))
			return true;
	return false;
}

static const char *name_of(const struct neutral *n, uint32_t tid)
{
	if (!n->name[tid])
		return "";
	return is_kept(n, tid) ? n->name[tid] : "other";
}

static const char *path_of(const char *path)
{
	const char *last = strrchr(path, '/');

	if (!last || !strncmp(path, "/usr/", 5) || !strncmp(path, "/lib", 4))
		return path;
	return last + 1;
}

static uint32_t module(struct neutral *n, uint32_t old)
{
	const char *id = trace_module_build_id(n->trace, old);
	uint8_t bytes[64];
	size_t len = 0;

	if (!old || old >= n->modules_end)
		return 0;
	for (; len < sizeof(bytes) && id[2 * len] && id[2 * len + 1]; len++) {
		const char digits[3] = { id[2 * len], id[2 * len + 1], 0 };

		bytes[len] = (uint8_t)strtoul(digits, NULL, 16);
	}
	if (!n->modules[old])
		n->modules[old] = encoder_module(
			n->enc, encoder_text(n->enc, path_of(trace_module_path(n->trace, old))),
			bytes, len);
	return n->modules[old];
}

/* An address space is that of a file, or of the first process found in it. */
static uint32_t space(struct neutral *n, uint32_t old, uint32_t tid)
{
	if (!old || old >= n->spaces_end)
		return 0;
	if (!n->spaces[old])
		n->spaces[old] = encoder_space(
			n->enc, trace_space_is_file(n->trace, old) ? 0 : n->tgid[tid], "");
	return n->spaces[old];
}

static uint32_t frame(struct neutral *n, uint32_t old, uint32_t tid)
{
	const struct trace_frame *f = trace_frame(n->trace, old);
	uint32_t new;

	if (!f || n->frames[old])
		return n->frames[old];
	new = encoder_frame(n->enc, space(n, f->space, tid),
			    f->addr ^ (f->exact ? CHAINLOG_EXACT_TAG : 0));
	n->frames[old] = new;
	/* A name that is not known needs no entry: the reader takes frames without one as such. */
	if (f->symbol || f->module)
		encoder_name(n->enc, new,
			     encoder_text(n->enc,
					  f->symbol ? trace_string(n->trace, f->symbol) : NULL),
			     module(n, f->module), f->offset);
	return new;
}

static uint32_t stack(struct neutral *n, uint32_t old, uint32_t tid)
{
	struct trace_stack s = trace_stack(n->trace, old);
	uint32_t frames[CHAINLOG_STACK_MAX];

	if (!old || n->stacks[old])
		return n->stacks[old];
	for (uint32_t i = 0; i < s.n && i < CHAINLOG_STACK_MAX; i++)
		frames[i] = frame(n, s.frames[i], tid);
	n->stacks[old] = encoder_stack(n->enc, frames, s.n, s.end);
	return n->stacks[old];
}

static uint32_t user_stack(struct neutral *n, uint32_t old, uint32_t tid)
{
	return is_kept(n, tid) ? stack(n, old, tid) : 0;
}

/* A command line without the folders in it. */
static void without_folders(char *to, size_t size, const char *command)
{
	size_t len = 0;

	for (const char *word = command; *word;) {
		size_t end = strcspn(word, " ");

		for (size_t i = end; i-- > 0;)
			if (word[i] == '/') {
				word += i + 1;
				end -= i + 1;
				break;
			}
		end += word[end] == ' ';
		for (size_t i = 0; i < end && len + 1 < size; i++)
			to[len++] = word[i];
		word += end;
	}
	to[len] = '\0';
}

static int copy_info(struct neutral *n)
{
	const struct trace_info *i = trace_info(n->trace);
	char release[64], options[4096];
	struct chainlog_info info = {
		.host = i->host,
		.release = release,
		.arch = i->arch,
		.options = options,
		.tool = i->tool,
		.cpus = i->cpus,
		.start_ns = i->start_ns,
		.wall_ns = i->wall_ns,
		.recorder_tgid = i->recorder_tgid,
		.parts = i->parts,
		.aux = i->aux,
	};

	without_folders(options, sizeof(options), i->options);
	snprintf(release, sizeof(release), "%.*s", (int)strcspn(i->release, "-"), i->release);
	return encoder_info(n->enc, &info);
}

static uint32_t object(struct neutral *n, uint32_t old)
{
	const struct trace_object *o = trace_object(n->trace, old);
	const char *class = o ? trace_string(n->trace, o->class) : "";
	const char *name = o ? trace_string(n->trace, o->name) : "";

	if (!o)
		return 0;
	return encoder_object(n->enc, &(struct encoder_object) {
					      .class = class,
					      /* A route looks like a path, and is none. */
					      .name = strcmp(class, "route") ? path_of(name) : name,
					      .own = trace_string(n->trace, o->own),
					      .peer = o->peer,
					      .owner = o->owner,
					      .device = o->device,
					      .inode = o->inode,
				      });
}

static int copy_threads(struct neutral *n)
{
	size_t count;
	const struct trace_thread *t = trace_threads(n->trace, &count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++, t++) {
		struct encoder_thread copy = {
			.tid = t->tid,
			.tgid = t->tgid,
			.start_ns = t->start_ns,
			.seen_ns = t->seen_ns,
			.flags = t->flags,
			.state = t->state,
		};

		n->name[t->tid] = trace_string(n->trace, t->name);
		n->tgid[t->tid] = t->tgid;
		n->kthread[t->tid] = t->flags & CHAINLOG_THREAD_KTHREAD;
		copy.name = encoder_text(n->enc, name_of(n, t->tid));
		copy.kstack = stack(n, t->kstack, t->tid);
		copy.ustack = user_stack(n, t->ustack, t->tid);
		copy.object = is_kept(n, t->tid) ? object(n, t->object) : 0;
		err = encoder_thread(n->enc, &copy);
	}
	return err;
}

static int copy_fork(struct neutral *n, const struct event *ev)
{
	n->name[ev->other] = trace_string(n->trace, ev->string);
	n->tgid[ev->other] = ev->tgid;
	n->kthread[ev->other] = n->kthread[ev->tid];
	return encoder_event(
		n->enc, &(struct event) { .time_ns = ev->time_ns,
					  .cpu = ev->cpu,
					  .kind = CHAINLOG_FORK,
					  .tid = ev->tid,
					  .other = ev->other,
					  .tgid = ev->tgid,
					  .string = encoder_text(n->enc, name_of(n, ev->other)) });
}

/* Losses are left out, what threads of others wait for, and what their groups are called. */
static bool is_left_out(const struct neutral *n, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_AUX_LOST:
	case EVENT_GROUP:
	case EVENT_OWN_ID:
		return true;
	case EVENT_WAITS_FOR:
	case EVENT_READY:
		return !is_kept(n, ev->tid) || !ev->awaited.object;
	case EVENT_WORK:
		return ev->work.what == CHAINLOG_WORK_QUEUED && ev->other && !is_kept(n, ev->other);
	case EVENT_HOLDER:
		return !is_kept(n, ev->other);
	default:
		return false;
	}
}

static int copy_aux(struct neutral *n, const struct event *ev)
{
	struct event copy = *ev;

	if (is_left_out(n, ev))
		return 0;
	copy.kstack = stack(n, ev->kstack, ev->tid);
	copy.ustack = user_stack(n, ev->ustack, ev->tid);
	if (ev->kind == EVENT_REQUEST)
		copy.request.label = 0;
	if (ev->kind == EVENT_DISK_DONE)
		copy.disk_done.group = 0;
	if (ev->kind == EVENT_UNTHROTTLED)
		copy.unthrottled.group = 0;
	for (const struct event_field *f = event_fields(ev->kind); f->type; f++)
		if (f->type == FIELD_OBJECT)
			*event_id(&copy, f) = object(n, *event_id(&copy, f));
	n->aux++;
	return encoder_event(n->enc, &copy);
}

/* What a program was started with, without its arguments. */
static uint32_t program(struct neutral *n, const char *text)
{
	char *file = strndup(text, strcspn(text, (const char[]) { CHAINLOG_ARGUMENT, 0 }));
	uint32_t id;

	if (!file)
		abort();
	id = encoder_text(n->enc, path_of(file));
	free(file);
	return id;
}

static int copy_event(struct neutral *n, const struct event *ev)
{
	const char *text = trace_string(n->trace, ev->string);

	switch (ev->kind) {
	case EVENT_SWITCH:
		return encoder_event(
			n->enc, &(struct event) { .time_ns = ev->time_ns,
						  .cpu = ev->cpu,
						  .kind = CHAINLOG_SWITCH,
						  .tid = ev->tid,
						  .state = ev->state,
						  .other = ev->other,
						  .kstack = stack(n, ev->kstack, ev->tid),
						  .ustack = user_stack(n, ev->ustack, ev->tid) });
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		return encoder_event(
			n->enc, &(struct event) { .time_ns = ev->time_ns,
						  .cpu = ev->cpu,
						  .kind = ev->kind,
						  .flags = ev->flags & CHAINLOG_F_OFF_QUEUE,
						  .tid = ev->tid,
						  .other = ev->other,
						  .kstack = stack(n, ev->kstack, ev->tid),
						  .ustack = user_stack(n, ev->ustack, ev->tid) });
	case EVENT_FORK:
		return copy_fork(n, ev);
	case EVENT_EXEC:
		return encoder_event(
			n->enc,
			&(struct event) { .time_ns = ev->time_ns,
					  .cpu = ev->cpu,
					  .kind = CHAINLOG_EXEC,
					  .tid = ev->tid,
					  .other = ev->other,
					  .string = is_kept(n, ev->tid)
							    ? program(n, text)
							    : encoder_text(n->enc, "other") });
	case EVENT_RENAME:
		n->name[ev->tid] = text;
		return encoder_event(
			n->enc,
			&(struct event) { .time_ns = ev->time_ns,
					  .cpu = ev->cpu,
					  .kind = CHAINLOG_RENAME,
					  .tid = ev->tid,
					  .string = encoder_text(n->enc, name_of(n, ev->tid)) });
	case EVENT_EXIT:
		return encoder_event(n->enc, &(struct event) { .time_ns = ev->time_ns,
							       .cpu = ev->cpu,
							       .kind = CHAINLOG_EXIT,
							       .tid = ev->tid });
	case EVENT_LOST:
		return encoder_lost(n->enc, ev->cpu == EVENT_CPU_UNKNOWN ? -1 : (int)ev->cpu,
				    ev->lost.n, ev->time_ns, ev->lost.last_ns);
	default:
		return copy_aux(n, ev);
	}
}

static int copy_all(struct neutral *n)
{
	const struct trace_info *info = trace_info(n->trace);
	struct trace_cursor *c;
	struct event ev;
	int err = trace_cursor_new(&c, n->trace);

	if (!err)
		err = copy_info(n);
	if (!err)
		err = copy_threads(n);
	while (!err && trace_cursor_next(c, &ev))
		err = copy_event(n, &ev);
	if (!err)
		err = trace_cursor_error(c);
	encoder_aux_counted(n->enc, n->aux);
	if (!err)
		err = encoder_end(n->enc, info->end_ns, info->kernel_events, info->sideband_lost);
	trace_cursor_free(c);
	return err;
}

/* Tables as large as the highest ids that the trace uses. */
static int make_tables(struct neutral *n)
{
	const struct trace *t = n->trace;
	uint32_t frames = trace_frames_end(t), tids = trace_info(t)->tids_end;

	for (uint32_t i = 1; i < frames; i++) {
		const struct trace_frame *f = trace_frame(t, i);

		if (f && f->module >= n->modules_end)
			n->modules_end = f->module + 1;
		if (f && f->space >= n->spaces_end)
			n->spaces_end = f->space + 1;
	}
	n->name = calloc(tids, sizeof(*n->name));
	n->tgid = calloc(tids, sizeof(*n->tgid));
	n->kthread = calloc(tids, sizeof(*n->kthread));
	n->stacks = calloc(trace_stacks_end(t) + 1, sizeof(*n->stacks));
	n->frames = calloc(frames + 1, sizeof(*n->frames));
	n->modules = calloc(n->modules_end + 1, sizeof(*n->modules));
	n->spaces = calloc(n->spaces_end + 1, sizeof(*n->spaces));
	return n->name && n->tgid && n->kthread && n->stacks && n->frames && n->modules && n->spaces
		       ? encoder_new(&n->enc, to_file, n->out)
		       : -ENOMEM;
}

int main(int argc, char **argv)
{
	struct neutral n = { 0 };
	struct recording r;
	int err;

	if (argc < 3) {
		fputs("usage: neutral IN OUT NAME...\n", stderr);
		return 2;
	}
	n.keep = argv + 3;
	err = recording_open(&r, argv[1], true, NULL);
	n.trace = r.trace;
	if (!err && trace_damage(r.trace)->what)
		err = -EBADMSG;
	if (!err && !(n.out = fopen(argv[2], "wb")))
		err = -errno;
	if (!err)
		err = make_tables(&n);
	if (!err)
		err = copy_all(&n);
	if (n.out && fclose(n.out) && !err)
		err = -errno;
	if (err)
		fprintf(stderr, "neutral %s: %s\n", argv[1], strerror(-err));
	encoder_free(n.enc);
	recording_close(&r);
	free(n.name);
	free(n.tgid);
	free(n.kthread);
	free(n.stacks);
	free(n.frames);
	free(n.modules);
	free(n.spaces);
	return err ? 1 : 0;
}
