// SPDX-License-Identifier: GPL-2.0-or-later
/* From the kernel side's records to the log. */
#include <errno.h>

#include "test.h"

#include "kernel/bpf.h"
#include "common/event_read.h"
#include "events/exec_text.h"
#include "events/translate.h"

static struct encoder *new_encoder(encoder_sink sink, void *ctx)
{
	struct encoder *e;

	assert_int_equal(encoder_new(&e, sink, ctx), 0);
	return e;
}

struct fixture {
	struct encoder *enc;
	struct symbolizer *sym;
	struct translator *t;
	size_t stack_blocks;
};

static int count_blocks(void *ctx, const void *block, size_t len)
{
	struct fixture *f = ctx;

	assert_true(len > CHAINLOG_HEADER_SIZE);
	f->stack_blocks += ((const uint8_t *)block)[CHAINLOG_OFF_TYPE] == CHAINLOG_BLOCK_STACKS;
	return 0;
}

static struct fixture fixture;

/* Keeps the last event. */
static int keep_event(void *ctx, const void *block, size_t len)
{
	const uint8_t *p = block;
	struct chainlog_reader r = { .p = NULL };

	if (p[CHAINLOG_OFF_TYPE] != CHAINLOG_BLOCK_EVENTS)
		return 0;
	assert_int_equal(chainlog_reader_begin(&r, false, p + CHAINLOG_HEADER_SIZE, p + len), 0);
	assert_int_equal(chainlog_read(&r, ctx), 1);
	chainlog_reader_free(&r);
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = &fixture;

	*f = (struct fixture) { 0 };
	assert_int_equal(encoder_new(&f->enc, count_blocks, f), 0);
	assert_int_equal(symbolizer_new(&f->sym, f->enc, SYMBOLIZER_KERNEL), 0);
	*state = f;
	return translator_new(&f->t, f->enc, f->sym, NULL, NULL, NULL);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	translator_free(f->t);
	symbolizer_free(f->sym);
	encoder_free(f->enc);
	return 0;
}

static int give_stack(struct fixture *f, uint32_t id, uint64_t addr)
{
	struct wire_stack s = {
		.r = { .time_ns = 5, .kind = WIRE_STACK },
		.id = id,
		.n = 2,
		.frames = { addr, addr + 1 },
	};

	return translator_record(f->t, &s.r, offsetof(struct wire_stack, frames) + 16);
}

static int give_switch(struct fixture *f, uint32_t kstack)
{
	struct wire_switch s = {
		.r = { .time_ns = 10, .kind = WIRE_SWITCH, .cpu = 1 },
		.prev = 7,
		.next = 8,
		.kstack = kstack,
		.state = 1,
	};

	return translator_record(f->t, &s.r, sizeof(s));
}

static struct encoder_counts counts(struct fixture *f)
{
	struct encoder_counts c;

	encoder_counts(f->enc, &c);
	return c;
}

static struct translator *new_translator(struct encoder *enc)
{
	struct translator *t;

	assert_int_equal(translator_new(&t, enc, NULL, NULL, NULL, NULL), 0);
	return t;
}

TEST(state_letters_are_those_of_ps)
{
	assert_int_equal(translator_state_letter(0), 'R');
	assert_int_equal(translator_state_letter(0x1), 'S');
	assert_int_equal(translator_state_letter(0x2001), 'S'); /* freezable */
	assert_int_equal(translator_state_letter(0x2), 'D');
	assert_int_equal(translator_state_letter(0x102), 'D'); /* killable */
	assert_int_equal(translator_state_letter(0x402), 'I');
	assert_int_equal(translator_state_letter(0x4), 'T');
	assert_int_equal(translator_state_letter(0x8), 't');
	assert_int_equal(translator_state_letter(0x40), 'P');
	assert_int_equal(translator_state_letter(0x80), 'X');
	assert_int_equal(translator_state_letter(0x21), 'Z');
	assert_int_equal(translator_state_letter(0x1000), 'D'); /* rt_mutex */
	assert_int_equal(translator_state_letter(0x8000), 'D'); /* frozen */
}

TEST(a_waking_says_if_the_target_was_off_its_queue)
{
	struct event ev = { .kind = 0 };
	struct encoder *enc = new_encoder(keep_event, &ev);
	struct translator *t = new_translator(enc);
	struct wire_waking w = { .r = { .time_ns = 10, .kind = WIRE_WAKING },
				 .waker = 7,
				 .target = 8 | WIRE_OFF_QUEUE };

	assert_int_equal(translator_record(t, &w.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.other, 8);
	assert_int_equal(ev.flags, CHAINLOG_F_OFF_QUEUE);
	w.target = 8;
	assert_int_equal(translator_record(t, &w.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.other, 8);
	assert_int_equal(ev.flags, 0);
	translator_free(t);
	encoder_free(enc);
}

static void expect_exec_text(const struct wire_exec *ev, const char *expected)
{
	char text[EXEC_TEXT_SIZE];

	exec_text(text, ev);
	assert_string_equal(text, expected);
	assert_true(strlen(text) < sizeof(text));
}

/* What a program is started with is one text; how long it is said to be is not trusted. */
TEST(an_exec_says_its_arguments)
{
	struct wire_exec ev = { .filename = "/bin/sh" };
	char expected[EXEC_TEXT_SIZE];

	expect_exec_text(&ev, "/bin/sh");
	memcpy(ev.first, "sh\0-c\0a b\x1f", 10);
	ev.arguments_len = 11;
	expect_exec_text(&ev, "/bin/sh\x1f-c\x1f"
			      "a b?");
	ev.arguments_len = 3;
	expect_exec_text(&ev, "/bin/sh");
	ev.arguments_len = 0;
	ev.filename[4] = '\x1f';
	expect_exec_text(&ev, "/bin?sh");
	/* No field ends, and there was more. */
	memset(ev.filename, 'f', sizeof(ev.filename));
	memset(ev.first, 'a', sizeof(ev.first));
	ev.first[0] = 0;
	memset(ev.last, 'z', sizeof(ev.last));
	ev.arguments_len = UINT32_MAX;
	memset(expected, 'f', sizeof(ev.filename));
	expected[sizeof(ev.filename)] = '\x1f';
	memset(expected + sizeof(ev.filename) + 1, 'a', sizeof(ev.first) - 1);
	memcpy(expected + sizeof(ev.filename) + sizeof(ev.first), "...", 3);
	memset(expected + sizeof(ev.filename) + sizeof(ev.first) + 3, 'z', sizeof(ev.last));
	expected[sizeof(ev.filename) + sizeof(ev.first) + 3 + sizeof(ev.last)] = 0;
	expect_exec_text(&ev, expected);
}

/* Keeps the last event of AUX_EVENTS. */
static int keep_more(void *ctx, const void *block, size_t len)
{
	const uint8_t *p = block;
	struct chainlog_reader r = { .p = NULL };

	if (p[CHAINLOG_OFF_TYPE] != CHAINLOG_BLOCK_AUX_EVENTS)
		return 0;
	assert_int_equal(chainlog_reader_begin(&r, true, p + CHAINLOG_HEADER_SIZE, p + len), 0);
	assert_int_equal(chainlog_read(&r, ctx), 1);
	chainlog_reader_free(&r);
	return 0;
}

TEST(samples_and_their_losses_have_accounts_of_their_own)
{
	struct event ev = { .kind = 0 };
	struct encoder *enc = new_encoder(keep_more, &ev);
	struct translator *t = new_translator(enc);
	struct wire_running s = { .r = { .time_ns = 10, .kind = WIRE_SAMPLE, .cpu = 3 },
				  .tid = 7,
				  .ustack = 1 };
	struct wire_lost l = { .r = { .time_ns = 12, .kind = WIRE_LOST, .cpu = 3 },
			       .n = 5,
			       .last_ns = 20,
			       .event = WIRE_SAMPLE };
	struct encoder_counts c;

	assert_int_equal(translator_record(t, &s.r, sizeof(s) - 1), -EBADMSG);
	assert_int_equal(translator_record(t, &s.r, sizeof(s)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.kind, EVENT_SAMPLE);
	assert_int_equal(ev.time_ns, 10);
	assert_int_equal(ev.cpu, 3);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.kstack, 0);
	assert_int_equal(ev.ustack, 1);
	assert_int_equal(translator_record(t, &l.r, sizeof(l)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.kind, EVENT_AUX_LOST);
	assert_int_equal(ev.other, CHAINLOG_SAMPLE);
	assert_int_equal(ev.lost.n, 5);
	assert_int_equal(ev.lost.last_ns, ev.time_ns + 8);
	encoder_counts(enc, &c);
	assert_int_equal(c.events, 0);
	assert_int_equal(c.lost, 0);
	assert_int_equal(c.aux, 1);
	assert_int_equal(c.aux_lost, 5);
	translator_free(t);
	encoder_free(enc);
}

static void expect_times(const struct event *ev, uint64_t arrival_ns, uint64_t taken_ns,
			 uint64_t answer_ns)
{
	assert_int_equal(ev->request.arrival_ns, arrival_ns);
	assert_int_equal(ev->request.taken_ns, taken_ns);
	assert_int_equal(ev->request.answer_ns, answer_ns);
}

/* Times become ages, the oldest first, also where calls on a connection overlapped. */
TEST(requests_are_told_by_how_long_ago_things_were)
{
	struct event ev = { .kind = 0 };
	struct encoder *enc = new_encoder(keep_more, &ev);
	struct translator *t = new_translator(enc);
	struct wire_request w = { .r = { .time_ns = 1000, .kind = WIRE_REQUEST, .cpu = 3 },
				  .connection = 5,
				  .arrival_ns = 100,
				  .taken_ns = 300,
				  .answer_ns = 990,
				  .bytes_read = 1,
				  .bytes_written = 2,
				  .reader = 7,
				  .writer = 8,
				  .flags = CHAINLOG_REQUEST_FIRST };

	assert_int_equal(translator_record(t, &w.r, sizeof(w) - 1), -EBADMSG);
	assert_int_equal(translator_record(t, &w.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.kind, EVENT_REQUEST);
	assert_int_equal(ev.tid, 8);
	assert_int_equal(ev.other, 7);
	assert_int_equal(ev.request.connection, 5);
	assert_int_equal(ev.request.endpoint, 0);
	assert_int_equal(ev.request.flags, CHAINLOG_REQUEST_FIRST);
	assert_int_equal(ev.request.bytes_read, 1);
	assert_int_equal(ev.request.bytes_written, 2);
	expect_times(&ev, 100, 300, 990);
	w.taken_ns = 50;
	w.answer_ns = 1010;
	assert_int_equal(translator_record(t, &w.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	expect_times(&ev, 100, 100, 1000);
	w.r.kind = WIRE_REQUEST_OPEN;
	assert_int_equal(translator_record(t, &w.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.kind, EVENT_REQUEST_OPEN);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.other, 0);
	translator_free(t);
	encoder_free(enc);
}

/* What probes mark has the name that it was given, and the label that was asked for. */
TEST(probed_requests_have_names_and_labels)
{
	struct event ev = { .kind = 0 };
	struct encoder *enc = new_encoder(keep_more, &ev);
	struct translator *t = new_translator(enc);
	struct wire_probed w = {
		.request = { .r = { .time_ns = 1000, .kind = WIRE_PROBED, .cpu = 3 },
			     .arrival_ns = 100,
			     .taken_ns = 100,
			     .answer_ns = 990,
			     .reader = 7,
			     .writer = 8,
			     .flags = CHAINLOG_REQUEST_PROBED },
	};
	uint64_t label = 0;

	/* They are what a program on the BPF side copied: without an end. */
	memset(w.name, 'n', sizeof(w.name));
	memset(w.label, 'l', sizeof(w.label));
	assert_int_equal(translator_record(t, &w.request.r, sizeof(w.request)), -EBADMSG);
	for (uint32_t is = WIRE_LABEL_NONE; is <= WIRE_LABEL_STRING; is++) {
		w.label_is = is;
		w.number = UINT64_MAX - is;
		assert_int_equal(translator_record(t, &w.request.r, sizeof(w)), 0);
		assert_int_equal(encoder_flush(enc), 0);
		assert_int_equal(ev.kind, EVENT_REQUEST);
		assert_int_equal(ev.tid, 8);
		assert_int_equal(ev.other, 7);
		/* Each label is another object. */
		label += is == WIRE_LABEL_NONE ? 0 : is == WIRE_LABEL_SIGNED ? 2 : 1;
		assert_int_equal(ev.request.endpoint, 1);
		assert_int_equal(ev.request.connection, 0);
		assert_int_equal(ev.request.flags, CHAINLOG_REQUEST_PROBED);
		assert_int_equal(ev.request.label, label);
		expect_times(&ev, 100, 100, 990);
	}
	w.request.r.kind = WIRE_PROBED_OPEN;
	assert_int_equal(translator_record(t, &w.request.r, sizeof(w)), 0);
	assert_int_equal(encoder_flush(enc), 0);
	assert_int_equal(ev.kind, EVENT_REQUEST_OPEN);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.other, 0);
	translator_free(t);
	encoder_free(enc);
}

/* What is made of a record, which has to be whole. */
static struct event event_of(const struct wire_record *w, size_t size)
{
	struct event ev = { .kind = 0 };
	struct encoder *enc = new_encoder(keep_more, &ev);
	struct translator *t = new_translator(enc);

	assert_int_equal(translator_record(t, w, size - 1), -EBADMSG);
	assert_int_equal(translator_record(t, w, size), 0);
	assert_int_equal(encoder_flush(enc), 0);
	translator_free(t);
	encoder_free(enc);
	return ev;
}

TEST(a_context_has_its_ids_and_route)
{
	const struct wire_context w = {
		.r = { .time_ns = 1000, .kind = WIRE_CONTEXT },
		.trace_high = 0x1122334455667788,
		.trace_low = 9,
		.span = UINT64_MAX,
		.tid = 7,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_CONTEXT);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.context.route, 0);
	assert_int_equal(ev.context.trace_high, 0x1122334455667788);
	assert_int_equal(ev.context.trace_low, 9);
	assert_int_equal(ev.context.span, UINT64_MAX);
}

TEST(a_lock_has_its_holder)
{
	const struct wire_holder w = {
		.r = { .time_ns = 1000, .kind = WIRE_HOLDER },
		.tid = 7,
		.holder = 9,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_HOLDER);
	assert_int_equal(ev.tid, 7);
	assert_int_equal(ev.other, 9);
}

TEST(a_process_is_moved_to_a_group)
{
	const struct wire_group w = {
		.r = { .time_ns = 1000, .kind = WIRE_GROUP },
		.tid = 7,
		.object = 5,
		.process = 1,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_GROUP);
	assert_int_equal(ev.tid, 7);
	assert_int_not_equal(ev.group.object, 0);
	assert_int_equal(ev.group.process, 1);
}

TEST(a_process_of_a_container_has_its_own_id)
{
	const struct wire_own_id w = {
		.r = { .time_ns = 1000, .kind = WIRE_OWN_ID },
		.tid = 4711,
		.id = 1,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_OWN_ID);
	assert_int_equal(ev.tid, 4711);
	assert_int_equal(ev.other, 1);
}

TEST(how_far_a_connection_is_keeps_its_numbers)
{
	const struct wire_stream w = {
		.r = { .time_ns = 1000, .kind = WIRE_STREAM },
		.tid = 4711,
		.written = UINT32_MAX,
		.received = 7,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_STREAM);
	assert_int_equal(ev.tid, 4711);
	assert_int_equal(ev.stream.object, 0);
	assert_int_equal(ev.stream.written, UINT32_MAX);
	assert_int_equal(ev.stream.received, 7);
}

TEST(a_quota_keeps_its_times_and_whose_it_was)
{
	const struct wire_unthrottled w = {
		.r = { .time_ns = 1000, .kind = WIRE_UNTHROTTLED },
		.tid = 4711,
		.since_ns = 300,
		.until_ns = 900,
		.why = CHAINLOG_QUOTA_DEADLINE,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_UNTHROTTLED);
	assert_int_equal(ev.tid, 4711);
	assert_int_equal(ev.unthrottled.group, 0);
	assert_int_equal(ev.unthrottled.since_ns, ev.time_ns - 700);
	assert_int_equal(ev.unthrottled.until_ns, ev.time_ns - 100);
	assert_int_equal(ev.unthrottled.why, CHAINLOG_QUOTA_DEADLINE);
}

TEST(a_timer_of_tcp_keeps_its_times)
{
	const struct wire_tcp_timer w = {
		.r = { .time_ns = 1000, .kind = WIRE_TCP_TIMER },
		.tid = 4711,
		.since_ns = 300,
		.at_ns = 900,
		.which = CHAINLOG_TCP_ACCEPT_QUEUE,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_TCP_TIMER);
	assert_int_equal(ev.tid, 4711);
	assert_int_equal(ev.tcp_timer.which, CHAINLOG_TCP_ACCEPT_QUEUE);
	assert_int_equal(ev.tcp_timer.since_ns, ev.time_ns - 700);
	assert_int_equal(ev.tcp_timer.at_ns, ev.time_ns - 100);
}

TEST(how_long_sleeps_with_stacks_last_is_kept_for_both_kinds)
{
	struct wire_stacks_from w = { .r = { .time_ns = 1000, .kind = WIRE_STACKS_FROM },
				      .ns = 64000000 };

	for (w.timers = 0; w.timers < 2; w.timers++) {
		const struct event ev = event_of(&w.r, sizeof(w));

		assert_int_equal(ev.kind, EVENT_STACKS_FROM);
		assert_int_equal(ev.stacks_from.ns, 64000000);
		assert_int_equal(ev.stacks_from.timers, w.timers);
	}
}

TEST(who_queued_an_item_keeps_its_times)
{
	const struct wire_work w = {
		.r = { .time_ns = 1000, .kind = WIRE_WORK },
		.queued_ns = 300,
		.tid = 4711,
		.what = CHAINLOG_WORK_QUEUED,
		.queuer = 17,
	};
	const struct event ev = event_of(&w.r, sizeof(w));

	assert_int_equal(ev.kind, EVENT_WORK);
	assert_int_equal(ev.tid, 4711);
	assert_int_equal(ev.other, 17);
	assert_int_equal(ev.work.what, CHAINLOG_WORK_QUEUED);
	assert_int_equal(ev.work.queued_ns, ev.time_ns - 700);
}

TEST_IN(a_stack_may_come_after_the_event_that_names_it, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(give_switch(f, 3), 0);
	assert_int_equal(counts(f).stacks, 1);
	assert_int_equal(give_stack(f, 3, 0x1000), 0);
	assert_int_equal(counts(f).stacks, 1);
	assert_int_equal(counts(f).frames, 2);
	assert_int_equal(give_switch(f, 3), 0);
	assert_int_equal(counts(f).stacks, 1);
	assert_int_equal(encoder_flush(f->enc), 0);
	assert_int_equal(f->stack_blocks, 1);
}

TEST_IN(a_stack_that_two_cpus_sent_is_defined_once, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(give_stack(f, 3, 0x1000), 0);
	assert_int_equal(give_stack(f, 3, 0x1000), 0);
	assert_int_equal(counts(f).stacks, 1);
}

TEST_IN(stacks_for_one_event_are_told_apart_and_shared_by_content, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 1; i < 100; i++) {
		assert_int_equal(give_stack(f, i | WIRE_STACK_ONCE, 0x1000 + i % 2 * 64), 0);
		assert_int_equal(give_switch(f, i | WIRE_STACK_ONCE), 0);
	}
	assert_int_equal(counts(f).stacks, 2);
}

/* Copies of stacks wait for rules, not all equally long; meanwhile their events are written. */
TEST_IN(a_copied_stack_may_come_after_its_event, setup, teardown)
{
	enum { COPIES = 5000 };
	struct fixture *f = *state;

	for (uint32_t i = 1; i <= COPIES; i++)
		assert_int_equal(give_switch(f, i | WIRE_STACK_COPY), 0);
	assert_int_equal(counts(f).stacks, COPIES);
	for (uint32_t i = 1; i <= COPIES; i++)
		assert_int_equal(give_stack(f, (i * 7 % COPIES + 1) | WIRE_STACK_COPY, i * 64), 0);
	/* The events' own, no others. */
	assert_int_equal(counts(f).stacks, COPIES);
	/* As there is no other event for it, one that comes again is another stack. */
	assert_int_equal(give_stack(f, 1 | WIRE_STACK_COPY, 64 * (COPIES + 1)), 0);
	assert_int_equal(counts(f).stacks, COPIES + 1);
	assert_int_equal(give_switch(f, 1 | WIRE_STACK_COPY), 0);
	assert_int_equal(counts(f).stacks, COPIES + 1);
}

/* The kernel side's ids go on, and it names none that is as old as this. */
TEST_IN(an_id_long_gone_is_no_other_stack, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t later = 3 + 2 * BPF_SESSION_IDS, stacks;

	assert_int_equal(give_stack(f, 3, 0x1000), 0);
	assert_int_equal(give_stack(f, later, 0x2000), 0);
	assert_int_equal(give_switch(f, later), 0);
	stacks = counts(f).stacks;
	assert_int_equal(stacks, 2);
	assert_int_equal(give_switch(f, 3), 0);
	assert_int_equal(counts(f).stacks, 3); /* one that is not defined */
	assert_int_equal(give_switch(f, later), 0);
	assert_int_equal(give_stack(f, 3, 0x3000), 0);
	assert_int_equal(counts(f).stacks, 3);
	/* After the last id comes the first one. */
	assert_int_equal(give_stack(f, WIRE_STACK_IDS, 0x4000), 0);
	assert_int_equal(give_stack(f, 1, 0x5000), 0);
	assert_int_equal(give_switch(f, WIRE_STACK_IDS), 0);
	assert_int_equal(give_switch(f, 1), 0);
	assert_int_equal(counts(f).stacks, 5);
}

static uint32_t learns_layout_7(void *ctx, const struct wire_layout_sample *s, uint32_t first)
{
	(void)ctx;
	(void)first;
	return s->id == 3 ? 7 : 0;
}

TEST_IN(a_stack_is_also_named_by_its_layout, setup, teardown)
{
	struct fixture *f = *state;
	struct wire_layout_sample s = { .r = { .time_ns = 6, .kind = WIRE_STACK_LAYOUT_SAMPLE },
					.id = 3 };

	translator_free(f->t);
	assert_int_equal(translator_new(&f->t, f->enc, f->sym, NULL, learns_layout_7, NULL), 0);
	/* The sample may be there before the stack, which another CPU has sent. */
	assert_int_equal(translator_record(f->t, &s.r, sizeof(s)), 0);
	assert_int_equal(give_stack(f, 3, 0x1000), 0);
	assert_int_equal(give_switch(f, WIRE_STACK_LAYOUT | 7), 0);
	assert_int_equal(give_switch(f, 3), 0);
	assert_int_equal(counts(f).stacks, 1);
	assert_int_equal(give_stack(f, WIRE_STACK_LAYOUT | 7, 0x1000), -EBADMSG);
}

TEST_IN(what_is_told_for_one_event_is_counted, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(id_map_once(translator_ids(f->t)), 0);
	assert_int_equal(give_stack(f, 5, 0x1000), 0);
	assert_int_equal(give_stack(f, 6 | WIRE_STACK_ONCE, 0x1000), 0);
	assert_int_equal(id_map_once(translator_ids(f->t)), 1);
}

#define STACK_BYTES(n) (offsetof(struct wire_stack, frames) + 8 * (n))

TEST_IN(records_that_are_none_are_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct wire_switch s = { .r = { .kind = WIRE_SWITCH } };
	struct wire_stack k = { .r = { .kind = WIRE_STACK }, .id = 1, .n = 100 };

	assert_int_equal(translator_record(f->t, &s.r, sizeof(s) - 1), -EBADMSG);
	s.r.kind = WIRE_KINDS;
	assert_int_equal(translator_record(f->t, &s.r, sizeof(s)), -EBADMSG);
	assert_int_equal(translator_record(f->t, &k.r, STACK_BYTES(99)), -EBADMSG);
	k.n_code = 1; /* of the kernel */
	assert_int_equal(translator_record(f->t, &k.r, sizeof(k)), -EBADMSG);
	k.tgid = 1;
	assert_int_equal(translator_record(f->t, &k.r, STACK_BYTES(100)), -EBADMSG);
	k.n_code = WIRE_CODE_FRAMES + 1;
	assert_int_equal(translator_record(f->t, &k.r, sizeof(k)), -EBADMSG);
	k.n_code = 0;
	k.n = 128;
	assert_int_equal(translator_record(f->t, &k.r, sizeof(k)), -EBADMSG);
}
