// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=pprof, read back field by field with the numbers of profile.proto. */
#include "test.h"

#include "export_read.h"

static const char *string_at(const struct bytes *b, uint64_t i)
{
	static char text[8][512];
	static unsigned int turn;
	struct field f = field_of(b->p, b->len, 6, (size_t)i);
	char *s = text[turn++ % 8];

	assert_int_equal(f.number, 6);
	assert_true(f.len < sizeof(text[0]));
	memcpy(s, f.p, f.len);
	s[f.len] = 0;
	return s;
}

/* The message in field number of the profile whose own field 1 is id. */
static struct field by_id(const struct bytes *b, uint32_t number, uint64_t id)
{
	struct field f;

	for (size_t i = 0; (f = field_of(b->p, b->len, number, i)).number; i++)
		if (field_of(f.p, f.len, 1, 0).v == id)
			return f;
	fail_msg("field %u: no %llu", number, (unsigned long long)id);
	return f;
}

static void put_stack(const struct bytes *b, const struct field *sample, FILE *out)
{
	struct field ids = field_of(sample->p, sample->len, 1, 0);
	const uint8_t *p = ids.p, *end = ids.p + ids.len;
	const char *names[256];
	size_t n = 0;

	while (p < end) {
		struct field location = by_id(b, 4, read_varint(&p, end));
		struct field line = field_of(location.p, location.len, 4, 0);
		struct field function = by_id(b, 5, field_of(line.p, line.len, 1, 0).v);

		assert_true(n < 256);
		names[n++] = strdup(string_at(b, field_of(function.p, function.len, 2, 0).v));
	}
	while (n-- > 0) {
		fprintf(out, "%s%s", names[n], n ? ";" : "");
		free((char *)names[n]);
	}
}

static void put_labels(const struct bytes *b, const struct field *sample, FILE *out)
{
	struct field f;

	for (size_t i = 0; (f = field_of(sample->p, sample->len, 3, i)).number; i++) {
		struct field str = field_of(f.p, f.len, 2, 0);

		fprintf(out, " %s=", string_at(b, field_of(f.p, f.len, 1, 0).v));
		if (str.number)
			fputs(string_at(b, str.v), out);
		else
			fprintf(out, "%llu", (unsigned long long)field_of(f.p, f.len, 3, 0).v);
	}
}

/* A sample a line: its stack root first, its values; then its labels, if wanted. */
static char *samples(const struct bytes *b, bool labels)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct field f;

	for (size_t i = 0; (f = field_of(b->p, b->len, 2, i)).number; i++) {
		struct field values = field_of(f.p, f.len, 2, 0);
		const uint8_t *p = values.p, *end = values.p + values.len;

		put_stack(b, &f, out);
		while (p < end)
			fprintf(out, " %llu", (unsigned long long)read_varint(&p, end));
		if (labels)
			put_labels(b, &f, out);
		putc('\n', out);
	}
	fclose(out);
	return text;
}

static struct bytes profile(const char *script, const struct options *o)
{
	return unpacked(script_exported(script, o, "pprof"));
}

/* The off-CPU stack at the root, the links on it; the waits with those who ended them. */
TEST(a_sample_is_a_chain)
{
	struct options o = script_options(101);
	struct bytes b;

	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	b = profile(script_chain, &o);
	expect_text(
		samples(&b, true),
		"A;umain;usleep;-;ksys;ksleep;[runnable] 0 30000"
		" thread=A process=A pid=101 host=testhost state=runnable end=[runnable] links=0\n"
		"A;umain;usleep;-;ksys;ksleep;[not woken] 1 1000000"
		" thread=A process=A pid=101 host=testhost state=blocked end=[not woken] links=0\n"
		"A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;[running] 0 400000"
		" thread=A process=A pid=101 host=testhost state=blocked end=[running] links=1\n"
		"A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B 1 0"
		" thread=A process=A pid=101 host=testhost state=blocked links=1\n"
		"A;upre;-;kpre;[preempted] 1 20000"
		" thread=A process=A pid=101 host=testhost state=preempted end=[preempted] "
		"links=0\n"
		"A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;--;try_to_wake_up;"
		"hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;"
		"[timer] 0 400000"
		" thread=A process=A pid=101 host=testhost state=blocked end=[timer] "
		"links=2\n");
	free(b.p);
}

TEST(an_interrupt_that_ends_a_wait_is_counted_where_its_time_is)
{
	static uint32_t b_only = 102;
	struct options o = script_options(101);
	struct bytes b;

	o.tids.ids = &b_only;
	o.parts = PART_BLOCKED;
	b = profile(script_chain, &o);
	expect_text(samples(&b, false),
		    "B;ulock;-;klock;--;try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;"
		    "asm_sysvec_apic_timer_interrupt;[timer] 1 400000\n");
	free(b.p);
}

TEST(frames_are_shown_as_the_options_want_them)
{
	struct options o = script_options(101);
	struct bytes b;

	o.parts = PART_BLOCKED;
	o.from_ns = 650000;
	o.to_ns = 750000;
	o.user = false;
	o.no_ends = true;
	o.annotate = true;
	o.blocked_stacks = true;
	b = profile(script_chain, &o);
	expect_text(samples(&b, false),
		    "A;ksys_[k];ksleep_[k];--;kwake_[w];ksend_[w];B_[w] 0 50000\n"
		    "A;ksys_[k];ksleep_[k];--;kwake_[w];ksend_[w];B_[w] 1 0\n"
		    "A;ksys_[k];ksleep_[k];--;kwake_[w];ksend_[w];B_[w];-;klock_[k];--;"
		    "try_to_wake_up_[w];hrtimer_wakeup_[w];__hrtimer_run_queues_[w];"
		    "asm_sysvec_apic_timer_interrupt_[w] 0 50000\n");
	/* 650 to 750 us of the trace, which began at wall time 0: it is not told. */
	assert_int_equal(field_of(b.p, b.len, 9, 0).number, 0);
	assert_int_equal(field_of(b.p, b.len, 10, 0).v, 100000);
	free(b.p);
}

/* The number of events first, as profile.proto asks; time is what is looked at by default. */
TEST(sample_types_are_waits_and_blocked_time)
{
	struct options o = script_options(101);
	struct bytes b = profile(script_chain, &o);
	struct field count = field_of(b.p, b.len, 1, 0), time = field_of(b.p, b.len, 1, 1);

	assert_string_equal(string_at(&b, 0), "");
	assert_string_equal(string_at(&b, field_of(count.p, count.len, 1, 0).v), "waits");
	assert_string_equal(string_at(&b, field_of(count.p, count.len, 2, 0).v), "count");
	assert_string_equal(string_at(&b, field_of(time.p, time.len, 1, 0).v), "blocked");
	assert_string_equal(string_at(&b, field_of(time.p, time.len, 2, 0).v), "nanoseconds");
	assert_int_equal(field_of(b.p, b.len, 1, 2).number, 0);
	assert_string_equal(string_at(&b, field_of(b.p, b.len, 14, 0).v), "blocked");
	free(b.p);
}

/* What B ran while A waited stands above [running]; own running time is a value beside blocked. */
TEST(samples_share_the_time_of_who_ran)
{
	static const char script[] = "thread A S\n"
				     "0   c0 - R > B\n"
				     "0   c1 - R > A\n"
				     "50  c0 B ran |early;main\n"
				     "100 c1 A S > - sleep|ask\n"
				     "200 c0 B ran |sort;main\n"
				     "300 c0 B ran copy;read|fetch;main\n"
				     "400 c0 B ran |sort;main\n"
				     "1000 c0 B wakes A wake|answer\n"
				     "1000 c1 - R > A\n"
				     "end 1100\n";
	struct options o = script_options(101);
	struct bytes b;
	struct field cpu;

	b = profile(script, &o);
	cpu = field_of(b.p, b.len, 1, 2);
	assert_string_equal(string_at(&b, field_of(cpu.p, cpu.len, 1, 0).v), "cpu");
	assert_string_equal(string_at(&b, field_of(cpu.p, cpu.len, 2, 0).v), "nanoseconds");
	assert_int_equal(field_of(b.p, b.len, 1, 3).number, 0);
	assert_string_equal(string_at(&b, field_of(b.p, b.len, 14, 0).v), "blocked");
	expect_text(
		samples(&b, true),
		"A;ask;-;sleep;--;wake;-;answer;B;[running];main;sort 0 600000 0"
		" thread=A process=A pid=101 host=testhost state=blocked end=[running] links=1\n"
		"A;ask;-;sleep;--;wake;-;answer;B;[running];main;fetch;-;read;copy 0 300000 0"
		" thread=A process=A pid=101 host=testhost state=blocked end=[running] links=1\n"
		"A;ask;-;sleep;--;wake;-;answer;B 1 0 0"
		" thread=A process=A pid=101 host=testhost state=blocked links=1\n"
		"A;[on-CPU] 0 0 200000"
		" thread=A process=A pid=101 host=testhost state=running end=[on-CPU] links=0\n");
	free(b.p);
	/* What --top leaves out is kept apart, too. */
	o.top = 1;
	b = profile(script, &o);
	expect_text(samples(&b, false),
		    "A;ask;-;sleep;--;wake;-;answer;B;[running];main;sort 0 600000 0\n"
		    "A;ask;-;sleep;--;wake;-;answer;B 1 0 0\n"
		    "[other] 0 300000 0\n"
		    "[other] 0 0 200000\n");
	free(b.p);
	/* Without ends there is nothing for them to stand above. */
	o = script_options(102);
	o.no_ends = true;
	b = profile(script, &o);
	assert_int_equal(field_of(b.p, b.len, 1, 2).number, 0);
	free(b.p);
	o.no_ends = false;
	b = profile(script, &o);
	expect_text(samples(&b, false), "B;[on-CPU];main;early 0 0 275000\n"
					"B;[on-CPU];main;sort 0 0 550000\n"
					"B;[on-CPU];main;fetch;-;read;copy 0 0 275000\n");
	free(b.p);
}

/* --state all: all of a life, of which some is not known. */
TEST(all_values_together_are_a_life)
{
	struct options o = script_options(101);
	struct bytes b;

	o.parts = PART_ALL;
	o.given |= GIVEN_STATE;
	b = profile("0   c0 - R > A\n"
		    "50  c0 A ran |main\n"
		    "100 c0 A R > - pre\n"
		    "150 c0 - R > A\n"
		    "200 c0 lost 300\n"
		    "400 c0 A S > - sleep\n"
		    "end 1000\n",
		    &o);
	expect_text(
		samples(&b, true),
		"A;pre;[preempted] 1 50000 0"
		" thread=A process=A pid=101 host=testhost state=preempted end=[preempted] "
		"links=0\n"
		"A;sleep;[unknown] 1 600000 0"
		" thread=A process=A pid=101 host=testhost state=blocked end=[unknown] links=0\n"
		"A;[unknown] 0 100001 0"
		" thread=A process=A pid=101 host=testhost state=unknown end=[unknown] links=0\n"
		"A;[on-CPU];main 0 0 249999"
		" thread=A process=A pid=101 host=testhost state=running end=[on-CPU] links=0\n");
	free(b.p);
}

/* One function in two files is two locations; names stand as they are, mangled ones are not told.
 */
TEST(functions_have_their_files_and_build_ids)
{
	static const uint8_t build_id[] = { 0xab, 0xcd, 0x01 };
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	uint32_t frames[2], stack, module[2];
	struct options o;
	struct trace *t;
	struct bytes b;
	size_t n = 0;

	for (uint32_t i = 0; i < 2; i++) {
		module[i] =
			encoder_module(e, encoder_text(e, i ? "/lib/other.so" : "/bin/some;where"),
				       build_id, i ? 0 : sizeof(build_id));
		frames[i] = encoder_frame(e, 1, 0x1000 + i);
		assert_int_equal(encoder_name(e, frames[i], encoder_text(e, "f<a, b>(char*)"),
					      module[i], i),
				 0);
	}
	stack = encoder_stack(e, frames, 2, false);
	synth_thread_full(m, &(struct encoder_thread) { .tid = 7,
							.tgid = 7,
							.state = 'S',
							.name = encoder_text(e, "seven"),
							.ustack = stack });
	synth_end(m, 1000);
	t = synth_open(m);
	options_init(&o);
	b = unpacked(trace_exported(t, &o, "pprof"));
	expect_text(samples(&b, false), "seven;f<a, b>(char*);f<a, b>(char*);[not woken] 1 1000\n");
	for (size_t i = 0; field_of(b.p, b.len, 3, i).number; i++, n++) {
		struct field f = field_of(b.p, b.len, 3, i);
		const char *file = string_at(&b, field_of(f.p, f.len, 5, 0).v);
		const char *id = string_at(&b, field_of(f.p, f.len, 6, 0).v);

		assert_string_equal(id, strcmp(file, "/bin/some:where") ? "" : "abcd01");
		assert_true(!strcmp(file, "/bin/some:where") || !strcmp(file, "/lib/other.so"));
		assert_int_equal(field_of(f.p, f.len, 7, 0).v, 1);
	}
	assert_int_equal(n, 2);
	for (size_t i = 0; field_of(b.p, b.len, 5, i).number; i++) {
		struct field f = field_of(b.p, b.len, 5, i);

		assert_int_equal(field_of(f.p, f.len, 3, 0).number, 0);
	}
	free(b.p);
	trace_close(t);
	synth_free(m);
}

/* One function at two lines is two locations; its file is known where debug information has it. */
TEST(functions_have_their_source_files_and_lines)
{
	static const struct {
		const char *name, *file;
		uint32_t line;
	} want[] = { { "work", "/src/work.c", 7 },
		     { "work", "/src/work.c", 9 },
		     { "main", "", 0 } };
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	uint32_t frames[3], stack;
	struct options o;
	struct trace *t;
	struct bytes b;
	size_t n;

	for (uint32_t i = 0; i < 3; i++) {
		frames[i] = encoder_frame(e, 1, 0x1000 + i);
		assert_int_equal(encoder_name(e, frames[i], encoder_text(e, want[i].name), 0, 0),
				 0);
	}
	stack = encoder_stack(e, frames, 3, false);
	synth_thread_full(m, &(struct encoder_thread) { .tid = 7,
							.tgid = 7,
							.state = 'S',
							.name = encoder_text(e, "seven"),
							.ustack = stack });
	synth_end(m, 1000);
	t = synth_open(m);
	for (uint32_t i = 0; i < 2; i++)
		trace_locate_frame(t, frames[i], want[i].file, want[i].line);
	options_init(&o);
	b = unpacked(trace_exported(t, &o, "pprof"));
	expect_text(samples(&b, false), "seven;main;work;work;[not woken] 1 1000\n");
	for (size_t k = 0; k < 3; k++) {
		bool found = false;

		for (n = 0; field_of(b.p, b.len, 4, n).number; n++) {
			struct field location = field_of(b.p, b.len, 4, n);
			struct field line = field_of(location.p, location.len, 4, 0);
			struct field function = by_id(&b, 5, field_of(line.p, line.len, 1, 0).v);

			found |= !strcmp(string_at(&b, field_of(function.p, function.len, 2, 0).v),
					 want[k].name) &&
				 !strcmp(string_at(&b, field_of(function.p, function.len, 4, 0).v),
					 want[k].file) &&
				 field_of(line.p, line.len, 2, 0).v == want[k].line;
		}
		assert_true(found);
	}
	/* seven, main, work twice, [not woken]; work is one function. */
	assert_int_equal(n, 5);
	for (n = 0; field_of(b.p, b.len, 5, n).number; n++)
		;
	assert_int_equal(n, 4);
	free(b.p);
	trace_close(t);
	synth_free(m);
}

/* Two profiles of one trace are the same file. */
TEST(the_same_trace_gives_the_same_bytes)
{
	struct options o = script_options(101);
	struct bytes a = script_exported(script_chain, &o, "pprof");
	struct bytes b = script_exported(script_chain, &o, "pprof");

	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.p, b.p, a.len);
	free(a.p);
	free(b.p);
}

/* Threads of one name are one; requests of two traces are not, although they have equal chains. */
TEST(requests_are_labelled_by_endpoint_and_trace)
{
	static const char script[] = "thread S *\n"
				     "0 c0 - R > S\n"
				     "60 c0 S context 10000000000000000c0ffee 7 /cart\n"
				     "100 c0 S request tcp::80 conn=1 arrived=50 taken=50\n"
				     "110 c0 S context c0ffee 7 /cart\n"
				     "200 c0 S request tcp::80 conn=1 arrived=105 taken=105\n"
				     "210 c0 S context c0ffee 8 /cart\n"
				     "300 c0 S request tcp::80 conn=1 arrived=205 taken=205\n"
				     "310 c0 S context -\n"
				     "900 c0 S request tcp::81 conn=2 arrived=400 taken=400\n"
				     "end 1000\n";
	struct options o = script_options(119);
	struct bytes b;

	o.requests = true;
	b = profile(script, &o);
	expect_text(
		samples(&b, true),
		"[request tcp :80 /cart] S;--;[unknown stack];S;[running] 0 50000 thread=[request "
		"tcp :80 /cart] S process=S pid=119 host=testhost state=blocked end=[running] "
		"links=1 object=[tcp] endpoint=tcp :80 /cart route=/cart "
		"trace_id=00000000010000000000000000c0ffee\n"
		"[request tcp :80 /cart] S;--;[unknown stack];S 1 0 thread=[request tcp :80 /cart] "
		"S process=S pid=119 host=testhost state=blocked links=1 object=[tcp] endpoint=tcp "
		":80 /cart route=/cart trace_id=00000000010000000000000000c0ffee\n"
		"[request tcp :80 /cart] S;--;[unknown stack];S;[running] 0 190000 thread=[request "
		"tcp :80 /cart] S process=S pid=119 host=testhost state=blocked end=[running] "
		"links=1 object=[tcp] endpoint=tcp :80 /cart route=/cart "
		"trace_id=00000000000000000000000000c0ffee\n"
		"[request tcp :80 /cart] S;--;[unknown stack];S 2 0 thread=[request tcp :80 /cart] "
		"S process=S pid=119 host=testhost state=blocked links=1 object=[tcp] endpoint=tcp "
		":80 /cart route=/cart trace_id=00000000000000000000000000c0ffee\n"
		"[request tcp :81] S;--;[unknown stack];S;[running] 0 500000 thread=[request tcp "
		":81] S process=S pid=119 host=testhost state=blocked end=[running] links=1 "
		"object=[tcp] endpoint=tcp :81\n"
		"[request tcp :81] S;--;[unknown stack];S 1 0 thread=[request tcp :81] S process=S "
		"pid=119 host=testhost state=blocked links=1 object=[tcp] endpoint=tcp :81\n");
	free(b.p);
}
