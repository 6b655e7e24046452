// SPDX-License-Identifier: GPL-2.0-or-later
/* The sink of --self-test: what is recorded is counted, and nothing of it kept. */
#include "session_test.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/translate.h"
#include "helper/helper.h"
#include "kernel/caps.h"
#include "kernel/host_proc.h"
#include "session_private.h"

/* ---- what is said --------------------------------------------------------------------------- */

void session_test_say(const char *part, bool works, const char *format, ...)
{
	va_list args;

	printf("%-5s %-16s ", works ? "ok" : "no", part);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* ---- the sink ------------------------------------------------------------------------------- */

struct test_sink {
	struct encoder *enc;
	struct translator *translator;
	uint64_t records[WIRE_KINDS];
};

static int drop_block(void *ctx, const void *block, size_t len)
{
	(void)ctx;
	(void)block;
	(void)len;
	return 0;
}

static int test_open(struct session *s)
{
	struct test_sink *t = s->sink_state = calloc(1, sizeof(*t));
	int err = t ? encoder_new(&t->enc, drop_block, NULL) : -ENOMEM;

	if (err)
		return session_fail(s, "cannot record", err);
	s->enc = t->enc;
	s->method = "kept nowhere";
	return 0;
}

static int count_record(void *ctx, const struct wire_record *r, size_t len)
{
	struct test_sink *t = ctx;

	if (r->kind < WIRE_KINDS)
		t->records[r->kind]++;
	return translator_record(t->translator, r, len);
}

static int take_thread(void *ctx, const struct wire_thread *thread)
{
	return translator_thread(((struct test_sink *)ctx)->translator, thread);
}

static int take_holder(void *ctx, uint32_t tid, uint32_t holder)
{
	return translator_holder(((struct test_sink *)ctx)->translator, tid, holder);
}

static int test_begin(struct session *s)
{
	struct test_sink *t = s->sink_state;
	int err = translator_new(&t->translator, s->enc, s->sym, NULL, bpf_session_learn, s->bpf);

	user_stacks_to(s->user_stacks, count_record, take_thread, take_holder, t);
	return err ? session_fail(s, "cannot record", err) : 0;
}

static int test_lost(struct session *s, uint64_t n, uint64_t now_ns)
{
	return encoder_lost(s->enc, -1, n, s->last_flush_ns, now_ns);
}

static enum sink_wish test_wish(struct session *s)
{
	(void)s;
	return SINK_CONTINUE;
}

static int test_flush(struct session *s, uint64_t now_ns)
{
	(void)now_ns;
	symbolizer_forget_ended(s->sym);
	return encoder_flush(s->enc);
}

static void test_counts(const struct session *s, struct sink_counts *out)
{
	struct encoder_counts c;

	encoder_counts(s->enc, &c);
	*out = (struct sink_counts) {
		.events = c.events,
		.lost = c.lost,
		.bytes = c.bytes,
		.kernel = c.events + c.lost,
		.kernel_aux = c.aux + c.aux_lost,
	};
}

/* What may help if functions of programs have no names, or their callers are not found. */
static const char *cure_of_names(const struct session *s)
{
	if (!s->helpers)
		return helpers_refusal(s->no_helpers);
	if (!host_proc_dir())
		return "docker run --pid=host (hostPID: true), or -v /proc:/host/proc:ro";
	return caps_have(CAP_SYS_PTRACE) ? "" : "CAP_SYS_PTRACE";
}

static void say_stacks(const struct session *s, const struct symbolizer_stats *stats,
		       const struct encoder_counts *c)
{
	uint64_t known = 0, whole = c->ends[CHAINLOG_STACK_WHOLE];
	const char *cure;

	for (int i = CHAINLOG_STACK_WHOLE; i < CHAINLOG_STACK_ENDS; i++)
		known += c->ends[i];
	if (s->options->kernel_stacks)
		session_test_say(
			"kernel stacks", stats->kernel_named, "%llu of %llu functions have names%s",
			(unsigned long long)stats->kernel_named,
			(unsigned long long)stats->kernel_frames,
			stats->kernel_named ? "" : ": CAP_SYSLOG, sysctl kernel.kptr_restrict=1");
	if (!s->options->user_stacks)
		return;
	cure = cure_of_names(s);
	session_test_say("user stacks", whole, "%llu of %llu are whole%s%s",
			 (unsigned long long)whole, (unsigned long long)known,
			 whole || !*cure ? "" : ": ", whole ? "" : cure);
	session_test_say("their names", stats->user_named, "%llu of %llu functions have names%s%s",
			 (unsigned long long)stats->user_named,
			 (unsigned long long)stats->user_frames, *cure ? ": " : "", cure);
}

static void say_parts(const struct session *s, const struct test_sink *t)
{
	const struct options *o = s->options;
	const uint64_t *n = t->records;

	if (!o->no_objects)
		session_test_say("objects", n[WIRE_OBJECT], "%llu that threads wait for",
				 (unsigned long long)n[WIRE_OBJECT]);
	if (!o->no_requests)
		session_test_say("requests", n[WIRE_REQUEST], "%llu at sockets%s",
				 (unsigned long long)n[WIRE_REQUEST],
				 bpf_session_finds_requests(s->bpf) ? "" : ": needs Linux 6.3");
	if (o->sample_hz)
		session_test_say("samples", n[WIRE_SAMPLE], "%llu of running threads%s",
				 (unsigned long long)n[WIRE_SAMPLE],
				 n[WIRE_SAMPLE] ? ""
						: ": sysctl kernel.perf_event_max_sample_rate");
	if (!o->no_irq)
		session_test_say("interrupts", n[WIRE_INTERRUPTS],
				 "%llu times that CPUs handled them",
				 (unsigned long long)n[WIRE_INTERRUPTS]);
}

static int test_finish(struct session *s, int err)
{
	struct symbolizer_stats stats = { 0 };
	struct test_sink *t = s->sink_state;
	struct encoder_counts c;

	if (!err)
		err = symbolizer_finish(s->sym, &stats);
	if (err) {
		fprintf(stderr, "chaincap: recording ended: %s\n", strerror(-err));
		return err;
	}
	encoder_counts(t->enc, &c);
	session_test_say("events", c.events && !c.lost, "%llu in a second, %llu lost%s",
			 (unsigned long long)c.events, (unsigned long long)c.lost,
			 c.lost ? ": --buffer-size" : "");
	say_stacks(s, &stats, &c);
	say_parts(s, t);
	return c.events ? 0 : -ENODATA;
}

static void test_close(struct session *s)
{
	struct test_sink *t = s->sink_state;

	if (!t)
		return;
	translator_free(t->translator);
	encoder_free(t->enc);
	free(t);
}

const struct session_sink session_test_sink = {
	.open = test_open,
	.begin = test_begin,
	.drop_caps = caps_drop,
	.lost = test_lost,
	.wish = test_wish,
	.flush = test_flush,
	.counts = test_counts,
	.finish = test_finish,
	.close = test_close,
};
