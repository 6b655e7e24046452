// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace file, and the sink of a session that writes one while it records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/clean_text.h"
#include "events/translate.h"
#include "kernel/caps.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "session_private.h"

int session_fail(const struct session *s, const char *what, int err)
{
	fprintf(stderr, "chaincap: %s: ", what);
	print_clean(stderr, s->why[0] ? s->why : strerror(-err)); /* may have names of functions */
	putc('\n', stderr);
	return err;
}

/* ---- a trace file -------------------------------------------------------------------------- */

static int to_writer(void *ctx, const void *block, size_t len)
{
	return writer_put(ctx, block, len);
}

int trace_file_open(struct trace_file *t, struct session *s, const char *path, int fd)
{
	int err;

	*t = (struct trace_file) { .fd = fd };
	if (t->fd < 0)
		return session_fail(s, path, t->fd);
	err = writer_new(&t->writer, t->fd);
	if (err)
		return session_fail(s, path, err);
	err = encoder_new(&t->enc, to_writer, t->writer);
	return err ? session_fail(s, path, err) : 0;
}

int trace_file_info(struct trace_file *t, const struct session *s, uint64_t start_ns)
{
	struct timespec wall;
	struct utsname u;
	struct chainlog_info info = {
		.options = s->command_line,
		.tool = "chaincap " CHAIN_VERSION,
		.cpus = bpf_session_cpus(s->bpf),
		.start_ns = start_ns,
		.recorder_tgid = host_proc_own_id(),
		.command_tgid = bpf_session_id(s->bpf, s->command.pid),
		.parts = (s->options->kernel_stacks ? 1u : 0) | (s->options->user_stacks ? 2u : 0),
		.aux = 1u << CHAINLOG_QUEUE | 1u << CHAINLOG_STEAL | 1u << CHAINLOG_RECORDER |
		       (bpf_session_finds_requests(s->bpf) ? 1u << CHAINLOG_REQUEST : 0) |
		       (s->options->no_objects ? 0 : 1u << CHAINLOG_STREAM) |
		       (bpf_session_finds_work(s->bpf) ? 1u << CHAINLOG_WORK : 0) |
		       (s->options->context ? 1u << CHAINLOG_CONTEXT : 0) |
		       (s->options->no_block ? 0 : 1u << CHAINLOG_DISK_DONE) |
		       (bpf_session_tells_quotas(s->bpf) ? 1u << CHAINLOG_UNTHROTTLED : 0) |
		       (s->options->no_irq ? 0 : 1u << CHAINLOG_INTERRUPTS) |
		       (s->options->light_ns ? 1u << CHAINLOG_WAIT_STACKS : 0),
		.light_ns = s->options->light_ns,
	};

	uname(&u);
	info.host = u.nodename;
	info.release = u.release;
	info.arch = u.machine;
	clock_gettime(CLOCK_REALTIME, &wall);
	info.wall_ns =
		s->wall_ns ? s->wall_ns
			   : wall.tv_sec * 1000000000ll + wall.tv_nsec - (int64_t)clock_now_ns();
	return encoder_info(t->enc, &info);
}

int trace_file_close(struct trace_file *t, const char *path, bool is_kept, int err)
{
	int closed = writer_close(t->writer);

	t->writer = NULL;
	if (!err)
		err = closed;
	if (err)
		fprintf(stderr, "chaincap: %s: %s%s\n", path, strerror(-err),
			is_kept ? "; what was written before is readable" : "");
	return err;
}

/* The share of user stacks that were unwound to their end; "" if none were. */
static const char *whole_share(const struct encoder_counts *c, char *text, size_t size)
{
	uint64_t known = 0;

	for (int i = CHAINLOG_STACK_WHOLE; i < CHAINLOG_STACK_ENDS; i++)
		known += c->ends[i];
	*text = '\0';
	if (known)
		snprintf(text, size, "%.1f %% of user stacks whole, ",
			 100.0 * c->ends[CHAINLOG_STACK_WHOLE] / (double)known);
	return text;
}

static void report_lacks(const struct symbolizer_stats *stats)
{
	for (uint32_t i = 0; i < stats->n_lacks; i++) {
		const struct symbolizer_lack *of = &stats->lacks[i];
		const struct runtime_lack *lack = of->lack;

		for (uint32_t k = 0; k < of->processes && k < SYMBOLIZER_LACKS_NAMED; k++) {
			fputs(k ? ", " : "chaincap: ", stderr);
			print_clean(stderr, of->named[k].program);
			fprintf(stderr, "/%u", of->named[k].tgid);
		}
		if (of->processes > SYMBOLIZER_LACKS_NAMED)
			fprintf(stderr, " and %u more", of->processes - SYMBOLIZER_LACKS_NAMED);
		fprintf(stderr, ": %s%s%s\n", lack->what, lack->cure ? ": " : "",
			lack->cure ? lack->cure : "");
	}
}

/* What was given up for want of memory; "" if nothing was. */
static const char *given_up(const struct session *s, char *text, size_t size)
{
	uint32_t n = helpers_given_up(s->helpers);

	*text = '\0';
	if (n)
		snprintf(text, size,
			 "no memory for %u readers of symbols (--memory): functions "
			 "have no names, stacks are cut",
			 n);
	return text;
}

int trace_file_note(struct trace_file *t, const struct session *s)
{
	const char *lacks = session_lacks(s);
	uint64_t left_out[CHAINLOG_LEFT_OUTS];
	char text[160];
	int err = 0;

	session_left_out(s, left_out);
	for (unsigned int i = 0; i < CHAINLOG_LEFT_OUTS; i++)
		/* A request may have been slow in the end that was not told before. */
		left_out[i] -= s->left_out[i] < left_out[i] ? s->left_out[i] : left_out[i];
	encoder_left_out(t->enc, left_out);
	if (lacks)
		err = encoder_process_note(t->enc, host_proc_own_id(), "chaincap", lacks,
					   "Linux 6.1");
	if (err || !*given_up(s, text, sizeof(text)))
		return err;
	return encoder_process_note(t->enc, host_proc_own_id(), "chaincap", text,
				    "chaincap --memory");
}

void trace_file_report(const struct trace_file *t, const struct session *s, const char *path,
		       const struct symbolizer_stats *stats)
{
	struct encoder_counts c;
	char size[32], whole[48], text[160];

	encoder_counts(t->enc, &c);
	progress_size(size, sizeof(size), c.bytes);
	fprintf(stderr,
		"chaincap: %llu events, %s, %.1f bytes/event, %u stacks, %llu lost, "
		"%ssymbols in %.2f s%s%s\n",
		(unsigned long long)c.events, size,
		c.events ? (double)c.bytes / (double)c.events : 0.0, c.stacks,
		(unsigned long long)c.lost, whole_share(&c, whole, sizeof(whole)),
		(double)stats->lookup_us / 1e6, strcmp(path, "-") ? " -> " : "",
		strcmp(path, "-") ? path : "");
	if (stats->sideband_lost)
		fprintf(stderr,
			"chaincap: %llu records of memory mappings are lost: functions may "
			"lack names\n",
			(unsigned long long)stats->sideband_lost);
	if (*given_up(s, text, sizeof(text)))
		fprintf(stderr, "chaincap: %s (--memory)\n", text);
	if (s->memory_most > s->options->memory)
		fprintf(stderr, "chaincap: the recorder itself took more than --memory: %llu MiB\n",
			(unsigned long long)s->memory_most >> 20);
	if (stats->late_files)
		fprintf(stderr,
			"chaincap: user functions in %u files were not looked up%s: chainwalk "
			"--debug-dir or --debuginfod names them, by their build IDs\n",
			stats->late_files, s->options->names_later ? "" : " in time (--names)");
	report_lacks(stats);
	if (s->options->verbose)
		fprintf(stderr,
			"chaincap: names: kernel %llu of %llu, user %llu of %llu (outside any "
			"mapping %llu, too many %llu, file not readable %llu, no symbol %llu, of "
			"them told apart "
			"%llu, no perf map %llu, not looked up %llu)\n",
			(unsigned long long)stats->kernel_named,
			(unsigned long long)stats->kernel_frames,
			(unsigned long long)stats->user_named,
			(unsigned long long)stats->user_frames, (unsigned long long)stats->unmapped,
			(unsigned long long)stats->too_many, (unsigned long long)stats->no_file,
			(unsigned long long)stats->no_symbol, (unsigned long long)stats->bounded,
			(unsigned long long)stats->no_perf_map, (unsigned long long)stats->late);
}

void trace_file_free(struct trace_file *t)
{
	encoder_free(t->enc);
	if (t->writer)
		writer_close(t->writer);
	if (t->fd >= 0)
		close(t->fd);
}

/* ---- the sink ------------------------------------------------------------------------------ */

struct file_sink {
	struct trace_file trace;
	struct translator *translator;
};

static int file_open(struct session *s)
{
	struct file_sink *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return session_fail(s, s->options->output, -ENOMEM);
	s->sink_state = f;
	err = trace_file_open(&f->trace, s, s->options->output,
			      writer_open_output(s->options->output, s->why, sizeof(s->why)));
	s->enc = f->trace.enc;
	return err;
}

static int file_begin(struct session *s)
{
	struct file_sink *f = s->sink_state;
	int err;

	err = translator_new(&f->translator, s->enc, s->sym, NULL, bpf_session_learn, s->bpf);
	if (err)
		return session_fail(s, "cannot record", err);
	user_stacks_to(s->user_stacks, translator_record, translator_thread, translator_holder,
		       f->translator);
	s->ids = translator_ids(f->translator);
	s->method = writer_method(f->trace.writer);
	err = trace_file_info(&f->trace, s, s->start_ns);
	return err ? session_fail(s, s->options->output, err) : 0;
}

static int file_lost(struct session *s, uint64_t n, uint64_t now_ns)
{
	return encoder_lost(s->enc, -1, n, s->last_flush_ns, now_ns);
}

static enum sink_wish file_wish(struct session *s)
{
	struct encoder_counts c;

	encoder_counts(s->enc, &c);
	if (!s->options->max_size || c.bytes < s->options->max_size)
		return SINK_CONTINUE;
	fprintf(stderr, "chaincap: --max-size reached, recording ends\n");
	return SINK_END;
}

static int file_flush(struct session *s, uint64_t now_ns)
{
	struct file_sink *f = s->sink_state;
	int err = encoder_flush(s->enc);

	(void)now_ns;
	symbolizer_forget_ended(s->sym);
	return err ? err : writer_flush(f->trace.writer);
}

static void file_counts(const struct session *s, struct sink_counts *out)
{
	const struct file_sink *f = s->sink_state;
	struct encoder_counts c;

	encoder_counts(s->enc, &c);
	*out = (struct sink_counts) {
		.events = c.events,
		.lost = c.lost,
		.bytes = c.bytes,
		.kernel = c.events + c.lost,
		.kernel_aux = c.aux + c.aux_lost,
		.total = c.events,
		.total_lost = c.lost,
		.stacks_once = id_map_once(translator_ids(f->translator)),
		.unknown_code = id_map_unknown_code(translator_ids(f->translator)),
		.unknown_routes = id_map_unknown_routes(translator_ids(f->translator)),
	};
}

static int file_finish(struct session *s, int err)
{
	const struct bpf_counts *c = &s->final;
	struct symbolizer_stats stats = { 0 };
	struct file_sink *f = s->sink_state;

	if (!err)
		err = id_map_settle_objects(s->ids);
	session_tell_cut(s);
	if (!err)
		err = symbolizer_finish(s->sym, &stats);
	if (!err)
		err = trace_file_note(&f->trace, s);
	encoder_aux_counted(s->enc, c->aux_seen);
	if (!err)
		err = encoder_end(s->enc, s->end_ns, c->seen + c->missed, stats.sideband_lost);
	if (s->options->verbose)
		fprintf(stderr, "chaincap: written with %s\n", writer_method(f->trace.writer));
	err = trace_file_close(&f->trace, s->options->output, true, err);
	if (!err && !s->options->quiet)
		trace_file_report(&f->trace, s, s->options->output, &stats);
	return err;
}

static void file_close(struct session *s)
{
	struct file_sink *f = s->sink_state;

	if (!f)
		return;
	translator_free(f->translator);
	trace_file_free(&f->trace);
	free(f);
}

const struct session_sink session_file_sink = {
	.open = file_open,
	.begin = file_begin,
	.drop_caps = caps_drop,
	.lost = file_lost,
	.wish = file_wish,
	.flush = file_flush,
	.counts = file_counts,
	.finish = file_finish,
	.close = file_close,
};
