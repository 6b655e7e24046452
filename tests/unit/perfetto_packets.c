// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=perfetto, read back field by field with the numbers of the published schema. */
#include "test.h"

#include "export_read.h"
#include "synth_many.h"

#define STRINGS_MAX 256
#define TRACKS_MAX 64

/* What a reader keeps of the packets before: interned strings by number, names of tracks. */
struct reader {
	char *names[STRINGS_MAX], *args[STRINGS_MAX], *values[STRINGS_MAX];
	char *paths[STRINGS_MAX], *files[STRINGS_MAX]; /* by mapping */
	char *functions[STRINGS_MAX], *frames[STRINGS_MAX], *callstacks[STRINGS_MAX];
	char *tracks[TRACKS_MAX];
	FILE *out;
};

static char *text_of(struct field f)
{
	char *s = calloc(1, f.len + 1);

	assert_non_null(s);
	assert_int_not_equal(f.number, 0);
	memcpy(s, f.p, f.len);
	return s;
}

static void keep(char **strings, size_t max, uint64_t id, char *s)
{
	assert_true(id && id < max);
	assert_null(strings[id]); /* told once */
	strings[id] = s;
}

/* "FUNCTION (FILE)" */
static void read_frame(struct reader *r, struct field f)
{
	const char *function = r->functions[field_of(f.p, f.len, 2, 0).v];
	const char *file = r->files[field_of(f.p, f.len, 3, 0).v];
	char *s;

	assert_true(function && file && field_of(f.p, f.len, 4, 0).number);
	assert_true(asprintf(&s, *file ? "%s (%s)" : "%s", function, file) > 0);
	keep(r->frames, STRINGS_MAX, field_of(f.p, f.len, 1, 0).v, s);
}

/* "FRAME;FRAME", root first */
static void read_callstack(struct reader *r, struct field f)
{
	char *s = NULL;
	size_t len;
	FILE *out = open_memstream(&s, &len);
	struct field frame;

	for (size_t i = 0; (frame = field_of(f.p, f.len, 2, i)).number; i++) {
		assert_non_null(r->frames[frame.v]);
		fprintf(out, "%s%s", i ? ";" : "", r->frames[frame.v]);
	}
	fclose(out);
	assert_true(len > 0);
	keep(r->callstacks, STRINGS_MAX, field_of(f.p, f.len, 1, 0).v, s);
}

static void read_interned(struct reader *r, struct field data)
{
	const uint8_t *p = data.p, *end = p + data.len;
	struct field f;

	while (read_field(&p, end, &f)) {
		uint64_t iid = field_of(f.p, f.len, 1, 0).v;
		char **of[32] = { [2] = r->names,
				  [3] = r->args,
				  [5] = r->functions,
				  [17] = r->paths,
				  [29] = r->values };
		uint64_t path = field_of(f.p, f.len, 7, 0).v;

		assert_true(f.number < 32);
		if (of[f.number])
			keep(of[f.number], STRINGS_MAX, iid, text_of(field_of(f.p, f.len, 2, 0)));
		else if (f.number == 6)
			read_frame(r, f);
		else if (f.number == 7)
			read_callstack(r, f);
		else if (f.number == 19)
			keep(r->files, STRINGS_MAX, iid, strdup(path ? r->paths[path] : ""));
		else
			assert_int_equal(f.number, 1); /* categories */
	}
}

/* "track A 101/101", "track process A 101" */
static void read_track(struct reader *r, struct field track)
{
	uint64_t uuid = field_of(track.p, track.len, 1, 0).v;
	struct field process = field_of(track.p, track.len, 3, 0);
	struct field thread = field_of(track.p, track.len, 4, 0);
	char *name;

	if (process.number) {
		name = text_of(field_of(process.p, process.len, 6, 0));
		fprintf(r->out, "process %s %llu\n", name,
			(unsigned long long)field_of(process.p, process.len, 1, 0).v);
	} else if (thread.number) {
		name = text_of(field_of(thread.p, thread.len, 5, 0));
		fprintf(r->out, "thread %s %llu/%llu\n", name,
			(unsigned long long)field_of(thread.p, thread.len, 1, 0).v,
			(unsigned long long)field_of(thread.p, thread.len, 2, 0).v);
	} else {
		uint64_t parent = field_of(track.p, track.len, 5, 0).v;

		name = text_of(field_of(track.p, track.len, 2, 0));
		assert_true(parent < TRACKS_MAX);
		fprintf(r->out, "track %s%s%s\n", name, parent ? " of " : "",
			parent ? r->tracks[parent] : "");
	}
	keep(r->tracks, TRACKS_MAX, uuid, name);
}

/* "A 100 + blocked stack=main" for a begin, "-" for an end, "!" for an instant; flows as "~1". */
static void read_event(struct reader *r, uint64_t ns, struct field e)
{
	static const char types[] = "?+-!";
	uint64_t type = field_of(e.p, e.len, 9, 0).v, track = field_of(e.p, e.len, 11, 0).v;
	uint64_t name = field_of(e.p, e.len, 10, 0).v;
	struct field f;

	assert_true(type && type < 4 && track < TRACKS_MAX && name < STRINGS_MAX);
	assert_non_null(r->tracks[track]);
	assert_true(type == 2 || r->names[name]);
	fprintf(r->out, "%s %llu %c", r->tracks[track], (unsigned long long)ns, types[type]);
	if (name)
		fprintf(r->out, " %s", r->names[name]);
	for (size_t i = 0; (f = field_of(e.p, e.len, 4, i)).number; i++) {
		uint64_t arg = field_of(f.p, f.len, 1, 0).v, value = field_of(f.p, f.len, 17, 0).v;

		assert_non_null(r->args[arg]);
		assert_non_null(r->values[value]);
		fprintf(r->out, " %s=%s", r->args[arg], r->values[value]);
	}
	if ((f = field_of(e.p, e.len, 47, 0)).number)
		fprintf(r->out, " ~%llu>", (unsigned long long)f.v);
	if ((f = field_of(e.p, e.len, 48, 0)).number)
		fprintf(r->out, " >~%llu", (unsigned long long)f.v);
	putc('\n', r->out);
}

/* "sample 102/102 c0 300 main;work" */
static void read_sample(struct reader *r, uint64_t ns, struct field s)
{
	struct field stack = field_of(s.p, s.len, 4, 0);

	fprintf(r->out, "sample %llu/%llu c%llu %llu",
		(unsigned long long)field_of(s.p, s.len, 2, 0).v,
		(unsigned long long)field_of(s.p, s.len, 3, 0).v,
		(unsigned long long)field_of(s.p, s.len, 1, 0).v, (unsigned long long)ns);
	if (stack.number)
		fprintf(r->out, " %s", r->callstacks[stack.v]);
	putc('\n', r->out);
}

/* All packets as text. */
static char *events(struct bytes b)
{
	struct reader r = { .out = NULL };
	const uint8_t *p = b.p, *end = b.p + b.len;
	char *text = NULL;
	struct field packet;
	size_t len;

	r.out = open_memstream(&text, &len);
	while (read_field(&p, end, &packet)) {
		struct field interned = field_of(packet.p, packet.len, 12, 0);
		struct field track = field_of(packet.p, packet.len, 60, 0);
		struct field event = field_of(packet.p, packet.len, 11, 0);
		struct field sample = field_of(packet.p, packet.len, 66, 0);
		bool first = packet.p < b.p + 16;

		assert_int_equal(packet.number, 1);
		assert_int_equal(field_of(packet.p, packet.len, 10, 0).v, 1);
		/* State is cleared by the first packet, which all others need. */
		assert_int_equal(field_of(packet.p, packet.len, 13, 0).v, first ? 1 : 2);
		if (interned.number)
			read_interned(&r, interned);
		if (track.number)
			read_track(&r, track);
		if (event.number)
			read_event(&r, field_of(packet.p, packet.len, 8, 0).v, event);
		if (sample.number)
			read_sample(&r, field_of(packet.p, packet.len, 8, 0).v, sample);
	}
	fclose(r.out);
	for (size_t i = 0; i < STRINGS_MAX; i++) {
		free(r.paths[i]);
		free(r.files[i]);
		free(r.functions[i]);
		free(r.frames[i]);
		free(r.callstacks[i]);
		free(r.names[i]);
		free(r.args[i]);
		free(r.values[i]);
	}
	for (size_t i = 0; i < TRACKS_MAX; i++)
		free(r.tracks[i]);
	free(b.p);
	return text;
}

/* All that A did; of B, which was not chosen, the waking alone, from where the arrow comes. */
TEST(a_thread_is_a_track_and_a_waking_an_arrow)
{
	struct options o = script_options(101);

	expect_text(events(script_exported(script_chain, &o, "perfetto")),
		    "process A 101\n"
		    "thread A 101/101\n"
		    "A 0 + running\n"
		    "A 100000 -\n"
		    "A 100000 + blocked stack=umain;usleep;-;ksys;ksleep state=S"
		    " waker=B (tid 102) waker_stack=kwake;ksend;-;usend\n"
		    "A 900000 -\n"
		    "A 900000 + runnable\n"
		    "A 930000 -\n"
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 900000 ! wakes A wakee=A (tid 101) stack=kwake;ksend;-;usend ~1>\n"
		    "A 930000 + running >~1\n"
		    "A 950000 -\n"
		    "A 950000 + preempted stack=upre;-;kpre\n"
		    "A 970000 -\n"
		    "A 970000 + running\n"
		    "A 1000000 -\n"
		    "A 1000000 + blocked stack=umain;usleep;-;ksys;ksleep state=S"
		    " flags=not_woken,still\n"
		    "A 2000000 -\n");
}

/* With an arrow to who took it, and on to who answered; S worked for the first one meanwhile. */
TEST(requests_have_tracks_and_arrows)
{
	struct options o = script_options(119);

	expect_text(
		events(script_exported(script_requests, &o, "perfetto")),
		"process S 119\n"
		"thread S 119/119\n"
		"S 0 + running\n"
		"S 1000000 -\n"
		"track tcp :80 /cart of S\n"
		"tcp :80 /cart 45000 + tcp :80 /cart connection=1 reader=S (tid 119) writer=S (tid "
		"119) route=/cart trace_id=00000000010000000000000000c0ffee "
		"span_id=0000000000000007 ~1>\n"
		"tcp :80 /cart 45000 + queued\n"
		"tcp :80 /cart 50000 -\n"
		"tcp :80 /cart 250000 -\n"
		"S 50000 ! takes tcp :80 /cart ~1>\n"
		"S 250000 ! answers tcp :80 /cart >~1\n"
		"track tcp :80 first of S\n"
		"tcp :80 first 100000 + tcp :80 first stack=work;send connection=2 reader=S (tid "
		"119) writer=S (tid 119) marks=first ~2>\n"
		"tcp :80 first 100000 + queued\n"
		"tcp :80 first 100000 + for tcp :80 /cart\n"
		"tcp :80 first 250000 -\n"
		"tcp :80 first 300000 -\n"
		"tcp :80 first 900000 -\n"
		"S 300000 ! takes tcp :80 first ~2>\n"
		"S 900000 ! answers tcp :80 first >~2\n"
		"track f of S\n"
		"f 910000 + f reader=S (tid 119) writer=S (tid 119) label=x,y marks=probed ~3>\n"
		"f 950000 -\n"
		"S 910000 ! begins f ~3>\n"
		"S 950000 ! ends f >~3\n");
	/* Those that are chosen; threads are all there. */
	o.min_request_ns = 300000;
	o.requests = true;
	o.to_ns = 800000;
	expect_text(events(script_exported(script_requests, &o, "perfetto")),
		    "process S 119\n"
		    "thread S 119/119\n"
		    "S 0 + running\n"
		    "S 800000 -\n"
		    "track tcp :80 first of S\n"
		    "tcp :80 first 100000 + tcp :80 first stack=work;send connection=2 reader=S "
		    "(tid 119) writer=S (tid 119) marks=first ~1>\n"
		    "tcp :80 first 100000 + queued\n"
		    "tcp :80 first 100000 + for tcp :80 /cart\n"
		    "tcp :80 first 250000 -\n"
		    "tcp :80 first 300000 -\n"
		    "tcp :80 first 800000 -\n"
		    "S 300000 ! takes tcp :80 first ~1>\n");
}

/* Each in a running slice of its thread, with its callstack; those in no such slice are left out.
 */
TEST(samples_are_on_the_tracks_of_their_threads)
{
	static const char script[] = "0   c0 - R > B\n"
				     "50  c0 B ran |main\n"
				     "300 c0 B ran copy;read|fetch;main\n"
				     "400 c0 B ran |main\n"
				     "500 c0 B ran\n"
				     "600 c0 B S > - sleep\n"
				     "700 c1 B ran |main\n"
				     "end 1000\n";
	struct options o = script_options(102);

	o.from_ns = 100000;
	expect_text(events(script_exported(script, &o, "perfetto")),
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 100000 + running\n"
		    "B 600000 -\n"
		    "sample 102/102 c0 300000 main;fetch;read;copy\n"
		    "sample 102/102 c0 400000 main\n"
		    "sample 102/102 c0 500000 [unknown stack]\n"
		    "B 600000 + blocked stack=sleep state=S flags=not_woken,still\n"
		    "B 1000000 -\n");
	o.user = false;
	o.to_ns = 450000;
	expect_text(events(script_exported(script, &o, "perfetto")),
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 100000 + running\n"
		    "B 450000 -\n"
		    "sample 102/102 c0 300000 read;copy\n"
		    "sample 102/102 c0 400000\n");
}

TEST(interrupts_wake_from_a_track_of_their_own)
{
	struct options o = script_options(102);

	o.user = false;
	expect_text(events(script_exported(script_chain, &o, "perfetto")),
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 0 + running\n"
		    "B 300000 -\n"
		    "B 300000 + blocked stack=klock state=D end=[timer] waker=[interrupt] "
		    "hrtimer_wakeup"
		    " waker_stack=try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;"
		    "asm_sysvec_apic_timer_interrupt\n"
		    "B 700000 -\n"
		    "track [interrupt]\n"
		    "[interrupt] 700000 ! wakes B wakee=B (tid 102)"
		    " waker=[interrupt] hrtimer_wakeup"
		    " stack=try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;"
		    "asm_sysvec_apic_timer_interrupt ~1>\n"
		    "B 700000 + running >~1\n"
		    "B 2000000 -\n");
}

/* A disk is said without its stages, the network with the socket to which packets came. */
TEST(what_ended_a_wait_is_an_argument)
{
	static const char script[] = "0   c0 - R > C\n"
				     "0   c1 - R > A\n"
				     "100 c1 A S > - recv for=tcp:10.0.0.5:80\n"
				     "200 c0 C wakes A net_rx_action;asm_common_interrupt\n"
				     "200 c1 - R > A\n"
				     "300 c1 A S > - poll\n"
				     "400 c0 C wakes A net_rx_action;asm_common_interrupt\n"
				     "400 c1 - R > A\n"
				     "500 c1 A S > - fsync for=file:/db\n"
				     "599 c0 A disk-done vda write 4096 500 550\n"
				     "600 c0 C wakes A blk_update_request;asm_common_interrupt\n"
				     "600 c1 - R > A\n"
				     "700 c1 A S > - wait\n"
				     "800 c0 C wakes A ipi;asm_common_interrupt\n"
				     "800 c1 - R > A\n"
				     "end 1000\n";
	static const char *const ends[] = {
		" object=tcp 10.0.0.5:80 state=S end=[network] tcp 10.0.0.5:80 waker=[interrupt] ",
		"A 300000 + blocked stack=poll state=S end=[network] waker=[interrupt] ",
		" object=file /db state=S end=[disk vda write] waker=[interrupt] ",
		"A 700000 + blocked stack=wait state=S end=[interrupt] waker=[interrupt] ",
	};
	struct options o = script_options(101);
	char *text;

	text = events(script_exported(script, &o, "perfetto"));
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strstr(text, ends[i]))
			fail_msg("expected %s in\n%s", ends[i], text);
	free(text);
	o.plain_ends = true;
	text = events(script_exported(script, &o, "perfetto"));
	for (size_t i = 0; i < 4; i++) {
		const char *end = text;

		for (size_t k = 0; k <= i && end; k++)
			end = strstr(end + 1, " end=");
		assert_non_null(end);
		assert_int_equal(strncmp(end, " end=[interrupt] ", 17), 0);
	}
	free(text);
}

/* Slices are cut to the window; an arrow needs both of its ends in it. */
TEST(a_window_of_time_cuts_slices)
{
	struct options o = script_options(101);

	o.from_ns = 50000;
	o.to_ns = 920000;
	o.kernel = false;
	expect_text(events(script_exported(script_chain, &o, "perfetto")),
		    "process A 101\n"
		    "thread A 101/101\n"
		    "A 50000 + running\n"
		    "A 100000 -\n"
		    "A 100000 + blocked stack=umain;usleep state=S waker=B (tid 102)"
		    " waker_stack=usend\n"
		    "A 900000 -\n"
		    "A 900000 + runnable\n"
		    "A 920000 -\n"
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 900000 ! wakes A wakee=A (tid 101) stack=usend\n");
}

TEST(waits_that_are_not_chosen_are_gaps)
{
	struct options o = script_options(101);

	o.parts = PART_RUNNABLE;
	o.given = GIVEN_STATE | GIVEN_PARTS;
	expect_text(events(script_exported(script_chain, &o, "perfetto")),
		    "process A 101\n"
		    "thread A 101/101\n"
		    "A 0 + running\n"
		    "A 100000 -\n"
		    "A 900000 + runnable\n"
		    "A 930000 -\n"
		    "process B 102\n"
		    "thread B 102/102\n"
		    "B 900000 ! wakes A wakee=A (tid 101) stack=kwake;ksend;-;usend ~1>\n"
		    "A 930000 + running >~1\n"
		    "A 950000 -\n"
		    "A 970000 + running\n"
		    "A 1000000 -\n");
}

/* What is missing is told as that; a track has its thread's last name. */
TEST(losses_are_unknown_slices)
{
	struct options o = script_options(101);

	expect_text(events(script_exported("thread A * main\n"
					   "100 c0 A renames-to new\n"
					   "200 c0 lost 300\n"
					   "400 c0 A S > - x\n"
					   "end 500\n",
					   &o, "perfetto")),
		    "process new 101\n"
		    "thread new 101/101\n"
		    "new 0 + running\n"
		    "new 200000 -\n"
		    "new 200000 + unknown\n"
		    "new 300001 -\n"
		    "new 300001 + running\n"
		    "new 400000 -\n"
		    "new 400000 + blocked stack=x state=S flags=no_waking,still\n"
		    "new 500000 -\n");
}

/* ---- the law: a track is a thread's timeline ------------------------------------------------ */

struct track {
	const char *state; /* of the open slice; NULL: none */
	uint64_t at_ns;	   /* when it began, or the one before ended */
	struct thread_sums sums;
};

static void end_slice(struct track *t, uint64_t ns)
{
	uint64_t len = ns - t->at_ns;

	assert_non_null(t->state);
	assert_true(ns > t->at_ns);
	t->sums.lifetime_ns += len;
	if (!strcmp(t->state, "running"))
		t->sums.running_ns += len;
	else if (!strcmp(t->state, "blocked"))
		t->sums.blocked_ns += len;
	else if (!strcmp(t->state, "runnable"))
		t->sums.runnable_ns += len;
	else if (!strcmp(t->state, "preempted"))
		t->sums.preempted_ns += len;
	else
		t->sums.unknown_ns += len;
	t->state = NULL;
	t->at_ns = ns;
}

/* Numbers of slices' names are fixed by the first packet, which other tests read. */
static void read_slices(struct bytes b, struct track *tracks, size_t n_tracks)
{
	static const char *const states[] = { "",	  "running",   "blocked",
					      "runnable", "preempted", "unknown" };
	const uint8_t *p = b.p, *end = b.p + b.len;
	uint64_t flows_begun = 0, flows_ended = 0;
	struct field packet;

	while (read_field(&p, end, &packet)) {
		struct field e = field_of(packet.p, packet.len, 11, 0);
		uint64_t ns = field_of(packet.p, packet.len, 8, 0).v;
		uint64_t type = field_of(e.p, e.len, 9, 0).v;
		uint64_t track = field_of(e.p, e.len, 11, 0).v;
		uint64_t name = field_of(e.p, e.len, 10, 0).v;

		/* Requests are no threads: they have tracks behind them, and a category of their
		 * own. */
		if (field_of(e.p, e.len, 3, 0).v == 3 || (type == 2 && track >= n_tracks))
			continue;
		flows_begun += field_of(e.p, e.len, 47, 0).number != 0;
		flows_ended += field_of(e.p, e.len, 48, 0).number != 0;
		if (!e.number || type == 3)
			continue;
		assert_true(track < n_tracks);
		if (type == 2) {
			end_slice(&tracks[track], ns);
			continue;
		}
		assert_true(name && name < 6);
		assert_null(tracks[track].state);
		assert_true(ns >= tracks[track].at_ns);
		tracks[track].state = states[name];
		tracks[track].at_ns = ns;
	}
	assert_int_equal(flows_begun, flows_ended);
	free(b.p);
}

static void tracks_are_timelines(const struct trace *t, uint64_t from_ns, uint64_t to_ns)
{
	struct timelines *tl;
	struct track *tracks;
	struct options o;
	uint64_t start;

	options_init(&o);
	o.from_ns = from_ns;
	o.to_ns = to_ns;
	assert_int_equal(timelines_new(&tl, t), 0);
	start = timelines_start_ns(tl);
	tracks = calloc(2 * (size_t)timelines_threads(tl) + 2, sizeof(*tracks));
	assert_non_null(tracks);
	read_slices(trace_exported(t, &o, "perfetto"), tracks,
		    2 * (size_t)timelines_threads(tl) + 2);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		struct thread_sums s = thread_sums(timelines_thread(tl, i), start + from_ns,
						   to_ns == UINT64_MAX ? to_ns : start + to_ns);

		assert_null(tracks[2 * i + 2].state);
		assert_memory_equal(&tracks[2 * i + 2].sums, &s, sizeof(s));
	}
	free(tracks);
	timelines_free(tl);
}

static void check_made_tracks(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	tracks_are_timelines(t, 0, UINT64_MAX);
	tracks_are_timelines(t, 20000, 90000);
}

TEST(slices_add_up_to_timelines_on_random_schedules)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
		on_schedule(seed, (enum schedule_kind)(seed % 5), check_made_tracks, NULL);
}

static void check_recorded_tracks(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	tracks_are_timelines(t, 0, UINT64_MAX);
	tracks_are_timelines(t, 10000000, 50000000);
}

TEST(slices_add_up_to_timelines_of_recorded_traces)
{
	on_recorded(check_recorded_tracks, NULL);
}
