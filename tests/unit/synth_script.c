// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_table.h"
#include "attribute/sleep_ends.h"
#include "synth_script.h"

enum { MAX_WORDS = 20 };

struct line {
	char *words[MAX_WORDS];
	int n;
};

static uint32_t tid_of(const char *word)
{
	if (!strcmp(word, "-"))
		return 0;
	MUST(isupper((unsigned char)*word) && !word[1]);
	return 101u + (uint32_t)(*word - 'A');
}

static uint64_t ns_of(const char *word)
{
	char *end;
	uint64_t us = strtoull(word, &end, 10), ns = 0;

	MUST(end != word);
	if (*end == '.') {
		uint64_t unit = 100;

		for (end++; isdigit((unsigned char)*end); end++, unit /= 10)
			ns += unit * (uint64_t)(*end - '0');
	}
	MUST(!*end);
	return us * 1000 + ns;
}

/* Of a text that begins with a time. */
static uint64_t ns_of_first(const char *text)
{
	char word[24];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " \n"), text);
	return ns_of(word);
}

static const char *word(const struct line *l, int i)
{
	return i < l->n ? l->words[i] : "";
}

/* Splits "kernel|user"; '~' is a space. */
static void stacks_of(char *both, const char **kernel, const char **user)
{
	char *bar = strchr(both, '|');

	for (char *p = both; (p = strchr(p, '~'));)
		*p = ' ';
	*kernel = both;
	*user = "";
	if (bar) {
		*bar = '\0';
		*user = bar + 1;
	}
}

/* "for=CLASS:NAME" as the last word of a switch. */
static void add_object(struct synth *m, const struct line *l, uint32_t cpu, uint64_t ns)
{
	char *class =
		l->n > 6 && !strncmp(l->words[l->n - 1], "for=", 4) ? l->words[l->n - 1] + 4 : NULL;
	char *name = class ? strchr(class, ':') : NULL;

	if (!class)
		return;
	if (name)
		*name++ = '\0';
	for (char *p = name; p && (p = strchr(p, '~'));)
		*p = ' ';
	synth_waits_for(m, cpu, ns, class, name ? name : "");
}

/* "A execs FILE ARGUMENT ..." */
static void add_exec(struct synth *m, const struct line *l, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	char text[500] = "/bin/true";
	size_t len = 0;

	for (int i = 4; i < l->n && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s%s", i > 4,
					(const char[]) { CHAINLOG_ARGUMENT, 0 }, l->words[i]);
	MUST(!encoder_event(synth_encoder(m),
			    &(struct event) { .time_ns = ns,
					      .cpu = cpu,
					      .kind = CHAINLOG_EXEC,
					      .tid = tid,
					      .other = tid,
					      .string = encoder_text(synth_encoder(m), text) }));
}

/* "A disk-done DISK OPERATION BYTES ASKED ISSUED" */
static void add_disk_done(struct synth *m, const struct line *l, uint32_t cpu, uint64_t ns,
			  uint32_t tid)
{
	static const char *const ops[] = { "read", "write", "flush", "discard", "zero", "other" };
	struct synth_disk_done d = { .disk = word(l, 4), .bytes = (uint32_t)atoi(word(l, 6)) };

	while (strcmp(ops[d.op], word(l, 5))) {
		d.op++;
		MUST(d.op < sizeof(ops) / sizeof(ops[0]));
	}
	d.asked_ns = *word(l, 7) == '-' ? 0 : ns_of(word(l, 7));
	d.issued_ns = *word(l, 8) == '-' ? 0 : ns_of(word(l, 8));
	if (*word(l, 9))
		d.group = word(l, 9);
	synth_disk_done(m, cpu, ns, tid, &d);
}

static char *with_blanks(char *text)
{
	for (char *c = text; *c; c++)
		if (*c == '+')
			*c = ' ';
	return text;
}

static void set_request_word(struct synth_request *r, char *w)
{
	static const char *const marks[] = { "first",	   "pipelined", "old",	 "unsent",
					     "no-arrival", "probed",	"stream" };
	char *value = strchr(w, '=');
	size_t i = 0;

	if (!value) {
		while (strcmp(marks[i], w)) {
			i++;
			MUST(i < sizeof(marks) / sizeof(marks[0]));
		}
		r->flags |= 1u << i;
		return;
	}
	*value++ = '\0';
	if (!strcmp(w, "conn"))
		r->connection = strtoul(value, NULL, 10);
	else if (!strcmp(w, "by"))
		r->reader = tid_of(value);
	else if (!strcmp(w, "arrived"))
		r->arrival_ns = ns_of(value);
	else if (!strcmp(w, "taken"))
		r->taken_ns = ns_of(value);
	else if (!strcmp(w, "began"))
		r->first_ns = ns_of(value);
	else if (!strcmp(w, "answered"))
		r->answer_ns = ns_of(value);
	else if (!strcmp(w, "read"))
		r->bytes_read = strtoul(value, NULL, 10);
	else if (!strcmp(w, "others"))
		r->flags |= (uint32_t)strtoul(value, NULL, 10) << CHAINLOG_REQUEST_OTHERS;
	else if (!strcmp(w, "wrote"))
		r->bytes_written = strtoul(value, NULL, 10);
	else if (!strcmp(w, "label"))
		r->label = value;
	else if (!strcmp(w, "route"))
		r->route = with_blanks(value);
	else if (!strcmp(w, "protocol"))
		r->protocol = value;
	else if (!strcmp(w, "stack"))
		stacks_of(value, &r->kstack, &r->ustack);
	else
		MUST(value == NULL); /* not a word that is known */
}

/* "A request CLASS:NAME ...", "A request-more ...", "A request-open CLASS:NAME ..." */
static void add_request(struct synth *m, const struct line *l, uint32_t cpu, uint64_t ns,
			uint32_t tid)
{
	struct synth_request r = {
		.reader = tid, .arrival_ns = ns, .taken_ns = ns, .first_ns = ns, .answer_ns = ns
	};
	bool more = !strcmp(l->words[3], "request-more");
	char *name;

	for (int i = more ? 4 : 5; i < l->n; i++)
		set_request_word(&r, l->words[i]);
	if (more) {
		synth_request_more(m, cpu, ns, tid, &r);
		return;
	}
	MUST(l->n > 4);
	name = strchr(l->words[4], ':');
	MUST(name);
	*name++ = '\0';
	r.class = l->words[4];
	r.name = name;
	if (!strcmp(l->words[3], "request-open"))
		synth_request_open(m, cpu, ns, &r);
	else
		synth_request(m, cpu, ns, tid, &r);
}

/* "A context TRACE SPAN ROUTE": the ids are hexadecimal, -: none. "A context -": none at all. */
static void add_context(struct synth *m, const struct line *l, uint32_t cpu, uint64_t ns,
			uint32_t tid)
{
	const char *trace = word(l, 4), *route = word(l, 6);
	size_t len = strlen(trace), low = len > 16 ? len - 16 : 0;
	char high[33] = "0";
	uint64_t id[2];

	MUST(len < sizeof(high));
	memcpy(high, trace, low);
	id[0] = strtoull(high, NULL, 16);
	id[1] = strtoull(trace + low, NULL, 16);
	synth_context(m, cpu, ns, tid, id, strtoull(word(l, 5), NULL, 16),
		      *route == '-' ? "" : route);
}

/* what: "CLASS:NAME" */
static void add_ready(struct synth *m, uint32_t cpu, uint64_t ns, uint32_t tid, char *what)
{
	char *name = strchr(what, ':');

	if (name)
		*name++ = '\0';
	synth_ready(m, cpu, ns, tid, what, name ? name : "");
}

static void add_event(struct synth *m, const struct line *l)
{
	struct encoder *e = synth_encoder(m);
	uint64_t ns = ns_of(l->words[0]);
	uint32_t cpu = 0, a, b;
	const char *verb, *k, *u;
	char stack[4096] = "";

	MUST(l->n >= 3 && l->words[1][0] == 'c');
	cpu = (uint32_t)atoi(l->words[1] + 1);
	if (!strcmp(l->words[2], "lost")) {
		synth_lost(m, l->words[1][1] == '?' ? -1 : (int)cpu, 1, ns, ns_of(word(l, 3)));
		return;
	}
	if (!strncmp(l->words[2], "lost-", 5)) {
		uint32_t kind = l->words[2][5] == 'q'	? CHAINLOG_QUEUE
				: l->words[2][5] == 'd' ? CHAINLOG_DISK_DONE
				: l->words[2][5] == 'm' ? CHAINLOG_REQUEST_MORE
				: l->words[2][5] == 'c' ? CHAINLOG_CONTEXT
				: l->words[2][5] == 'g' ? CHAINLOG_GROUP
				: l->words[2][5] == 'w' ? CHAINLOG_WORK
				: l->words[2][5] == 'n' ? CHAINLOG_NOT_SENT
							: CHAINLOG_REQUEST;

		MUST(!encoder_aux_lost(e, cpu, CHAINLOG_AUX + kind, 1, ns, ns_of(word(l, 3))));
		return;
	}
	if (!strcmp(l->words[2], "recorder")) {
		synth_recorder(m, cpu, ns, ns_of(word(l, 3)));
		return;
	}
	if (!strcmp(l->words[2], "interrupts") || !strcmp(l->words[2], "steal")) {
		synth_taken(m, cpu, ns, *l->words[2] == 's', ns_of(word(l, 3)));
		return;
	}
	a = tid_of(l->words[2]);
	verb = word(l, 3);
	b = l->n > 4 && (isupper((unsigned char)*l->words[4]) || *l->words[4] == '-') &&
			    !l->words[4][1]
		    ? tid_of(l->words[4])
		    : 0;
	if (l->n > 5 && strcmp(word(l, 4), ">"))
		snprintf(stack, sizeof(stack), "%s", l->words[5]);
	if (!strcmp(word(l, 4), ">")) {
		MUST(l->n >= 6 && strlen(verb) == 1);
		if (strncmp(word(l, 6), "for=", 4))
			snprintf(stack, sizeof(stack), "%s", word(l, 6));
		stacks_of(stack, &k, &u);
		synth_switch_full(m, cpu, ns, a, *verb, tid_of(l->words[5]), k, u);
		add_object(m, l, cpu, ns);
		return;
	}
	if (!strcmp(verb, "works-on") && l->n > 6)
		snprintf(stack, sizeof(stack), "%s", l->words[6]);
	if (!strcmp(verb, "ran") || !strcmp(verb, "slept-at") || !strcmp(verb, "asks-disk"))
		snprintf(stack, sizeof(stack), "%s", word(l, 4));
	stacks_of(stack, &k, &u);
	if (!strcmp(verb, "ran"))
		synth_ran(m, cpu, ns, a, k, u);
	else if (!strcmp(verb, "slept-at"))
		synth_slept_at(m, cpu, ns, a, k, u);
	else if (!strcmp(verb, "asks-disk"))
		synth_asks_disk(m, cpu, ns, a, k, u);
	else if (!strcmp(verb, "works-on"))
		synth_work(m, cpu, ns, a,
			   !strcmp(word(l, 4), "nothing") ? 0
			   : strcmp(word(l, 4), "?")	  ? 1
							  : 2,
			   b, *word(l, 5) ? ns - ns_of(word(l, 5)) : 0, k, u);
	else if (!strcmp(verb, "disk-done"))
		add_disk_done(m, l, cpu, ns, a);
	else if (!strcmp(verb, "wakes"))
		synth_waking_full(m, cpu, ns, CHAINLOG_WAKING, a, b, k, u);
	else if (!strcmp(verb, "wakes!"))
		synth_waking_full(m, cpu, ns, CHAINLOG_WAKING | CHAINLOG_F_OFF_QUEUE, a, b, k, u);
	else if (!strcmp(verb, "woken"))
		synth_waking_full(m, cpu, ns, CHAINLOG_WAKING | CHAINLOG_F_NO_WAKER, 0, b, "", "");
	else if (!strcmp(verb, "new"))
		synth_waking_full(m, cpu, ns, CHAINLOG_WAKING_NEW, a, b, k, u);
	else if (!strcmp(verb, "forks"))
		MUST(!encoder_event(
			e, &(struct event) {
				   .time_ns = ns,
				   .cpu = cpu,
				   .kind = CHAINLOG_FORK,
				   .tid = a,
				   .other = b,
				   .tgid = b,
				   .string = encoder_text(e, (char[]) { *l->words[4], 0 }) }));
	else if (!strcmp(verb, "execs"))
		add_exec(m, l, cpu, ns, a);
	else if (!strcmp(verb, "execs-as"))
		MUST(!encoder_event(e, &(struct event) { .time_ns = ns,
							 .cpu = cpu,
							 .kind = CHAINLOG_EXEC,
							 .tid = b,
							 .other = a,
							 .string = encoder_text(e, "/bin/true") }));
	else if (!strcmp(verb, "exits"))
		MUST(!encoder_event(
			e, &(struct event) {
				   .time_ns = ns, .cpu = cpu, .kind = CHAINLOG_EXIT, .tid = a }));
	else if (!strcmp(verb, "queued") || !strcmp(verb, "queued!"))
		synth_queued(m, cpu, ns, a, (uint32_t)atoi(word(l, 4) + 1), verb[6] == '!');
	else if (!strcmp(verb, "held-by"))
		synth_holder(m, cpu, ns, a, b);
	else if (!strcmp(verb, "in-group") || !strcmp(verb, "all-in-group"))
		synth_group(m, cpu, ns, a, word(l, 4), *verb == 'a');
	else if (!strcmp(verb, "throttled"))
		synth_throttled(m, cpu, ns, a);
	else if (!strcmp(verb, "unthrottled"))
		synth_unthrottled(m, cpu, ns, a, ns_of(word(l, 4)), ns_of(word(l, 5)), word(l, 6));
	else if (!strcmp(verb, "not-sent"))
		synth_not_sent(m, cpu, ns, a);
	else if (!strcmp(verb, "tcp-timer"))
		synth_tcp_timer(m, cpu, ns, a, strtoull(word(l, 4), NULL, 10), ns_of(word(l, 5)),
				ns_of(word(l, 6)));
	else if (!strncmp(verb, "request", 7))
		add_request(m, l, cpu, ns, a);
	else if (!strcmp(verb, "context"))
		add_context(m, l, cpu, ns, a);
	else if (!strcmp(verb, "stream"))
		synth_stream(m, cpu, ns, a, (uint32_t)strtoul(word(l, 4), NULL, 10),
			     (uint32_t)strtoul(word(l, 5), NULL, 10), word(l, 6));
	else if (!strcmp(verb, "ready"))
		add_ready(m, cpu, ns, a, l->words[4]);
	else if (!strcmp(verb, "renames-to"))
		MUST(!encoder_event(e, &(struct event) { .time_ns = ns,
							 .cpu = cpu,
							 .kind = CHAINLOG_RENAME,
							 .tid = a,
							 .string = encoder_text(e, word(l, 4)) }));
	else
		MUST(verb == NULL); /* not a verb that is known */
}

static void add_thread(struct synth *m, const struct line *l, const char *name)
{
	const char *k = "", *u = "", *state = word(l, 2), *leader = strchr(state, '/');
	const char *seen = strchr(state, '@');
	uint32_t kernel = strchr(state, '+') ? CHAINLOG_THREAD_KTHREAD : 0;
	char stack[4096];

	snprintf(stack, sizeof(stack), "%s", word(l, 3));
	stacks_of(stack, &k, &u);
	synth_thread_full(m,
			  &(struct encoder_thread) {
				  .tid = tid_of(l->words[1]),
				  .tgid = tid_of(leader ? leader + 1 : l->words[1]),
				  .seen_ns = seen ? ns_of(seen + 1) : 0,
				  .flags = (*state == '*' ? CHAINLOG_THREAD_RUNNING : 0) | kernel,
				  .state = *state == '*' ? 'R' : *state,
				  .name = encoder_text(synth_encoder(m), name),
				  .kstack = synth_kstack(m, k),
				  .ustack = synth_ustack(m, u),
			  });
}

struct synth *script_made(const char *script)
{
	const char *others = NULL; /* the name of all threads but A and B */
	uint32_t quotas = strstr(script, "quotas\n") ? 1u << CHAINLOG_UNTHROTTLED : 0;
	uint64_t light_ns = strncmp(script, "light ", 6) ? 0 : ns_of_first(script + 6);
	struct synth *m = synth_new();
	char *text = strdup(script), *rest = text, *s;
	bool named[26] = { false };
	bool ended = false;

	MUST(text);
	for (const char *c = script; *c; c++)
		if (isupper((unsigned char)*c) && c > script && c[-1] == ' ' &&
		    (c[1] == ' ' || c[1] == '\n') && strncmp(c + 1, " >", 2))
			named[*c - 'A'] = true;
	for (s = script[0] ? text : NULL; (s = strsep(&rest, "\n"));) {
		struct line l = { .n = 0 };
		char *w;

		while ((w = strsep(&s, " \t")))
			if (*w && l.n < MAX_WORDS)
				l.words[l.n++] = w;
		if (!l.n)
			continue;
		if (!strcmp(l.words[0], "quotas")) {
			continue;
		} else if (!strcmp(l.words[0], "light")) {
			if (!strstr(script, "\nqueues"))
				synth_info(m, &(struct chainlog_info) { .cpus = 2,
									.light_ns = light_ns });
		} else if (!strcmp(l.words[0], "queues")) {
			uint32_t taken = 1u << CHAINLOG_INTERRUPTS | 1u << CHAINLOG_STEAL;

			synth_info(m,
				   &(struct chainlog_info) {
					   .cpus = 2,
					   .aux = 1u << CHAINLOG_QUEUE | 1u << CHAINLOG_WORK |
						  quotas | (*word(&l, 1) ? taken : 0),
					   .command_tgid = *word(&l, 2) ? tid_of(word(&l, 2)) : 0,
					   .light_ns = light_ns,
				   });
		} else if (!strcmp(l.words[0], "others-are")) {
			others = word(&l, 1);
		} else if (!strcmp(l.words[0], "thread") || !strcmp(l.words[0], "born")) {
			MUST(l.n >= 2);
			named[*l.words[1] - 'A'] = false;
			if (*l.words[0] == 't')
				add_thread(m, &l,
					   others && *l.words[1] > 'B' ? others : l.words[1]);
		} else if (!strcmp(l.words[0], "end")) {
			for (int i = 0; i < 26; i++) {
				char letter[] = { (char)('A' + i), 0 };

				if (named[i])
					synth_thread_full(
						m, &(struct encoder_thread) {
							   .tid = 101u + (uint32_t)i,
							   .tgid = 101u + (uint32_t)i,
							   .state = 'R',
							   .name = encoder_text(synth_encoder(m),
										others && i > 1
											? others
											: letter),
						   });
			}
			synth_end(m, ns_of(word(&l, 1)));
			ended = true;
		} else {
			add_event(m, &l);
		}
	}
	MUST(ended);
	free(text);
	return m;
}

/* A waits for B, which waits for an interrupt that hits C; then A is preempted, and sleeps on. */
const char script_chain[] = "0    c0 - R > B\n"
			    "0    c1 - R > A\n"
			    "0    c2 - R > C\n"
			    "100  c1 A S > - ksleep;ksys|usleep;umain\n"
			    "300  c0 B D > - klock|ulock\n"
			    "700  c2 C wakes B try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;"
			    "asm_sysvec_apic_timer_interrupt;cfunc|cmain\n"
			    "700  c0 - R > B\n"
			    "900  c0 B wakes A kwake;ksend|usend\n"
			    "930  c1 - R > A\n"
			    "950  c1 A R > - kpre|upre\n"
			    "970  c1 - R > A\n"
			    "1000 c1 A S > - ksleep;ksys|usleep;umain\n"
			    "end 2000\n";

const char script_lengths[] = "0      c0 - R > A\n"
			      "0      c1 - R > B\n"
			      "0      c2 - R > C\n"
			      "10     c0 A S > - a\n"
			      "11.999 c2 C wakes A w\n"
			      "11.999 c0 - R > A\n"
			      "20     c0 A S > - a\n"
			      "21     c2 C wakes A w\n"
			      "22     c0 - R > A\n"
			      "30     c0 A S > - a\n"
			      "33     c2 C wakes A w\n"
			      "33     c0 - R > A\n"
			      "40     c1 B S > - b\n"
			      "49     c2 C wakes B w\n"
			      "49     c1 - R > B\n"
			      "end 100\n";

const char script_requests[] =
	"thread S *\n"
	"0 c0 - R > S\n"
	"60 c0 S context 10000000000000000c0ffee 7 /cart\n"
	"250 c0 S request tcp::80 conn=1 arrived=45 taken=50\n"
	"260 c0 S context -\n"
	"900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;work first\n"
	"950 c0 S request request:f arrived=910 taken=910 probed label=x,y\n"
	"end 1000\n";

struct options script_options(uint32_t tid)
{
	static uint32_t tids[2];
	struct options o;

	tids[tid & 1] = tid;
	options_init(&o);
	o.tids = (struct id_list) { &tids[tid & 1], 1 };
	return o;
}

char *trace_written(const struct trace *t, const struct options *o, const char *format, size_t *len)
{
	const struct format *f = format_find(format);
	struct options chosen = *o;
	struct format_input in = { .trace = t, .options = &chosen };
	struct timelines *tl = NULL;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	MUST(f && out);
	/* Folded lines have a title otherwise. */
	chosen.quiet |= !strcmp(format, "folded");
	MUST(!(f->wants_cpus || o->who_ran ? timelines_new_with_cpus : timelines_new)(&tl, t));
	sleep_ends_settle(tl);
	in.timelines = tl;
	MUST(!f->write(&in, out));
	fclose(out);
	timelines_free(tl);
	return text;
}

char *trace_formatted(const struct trace *t, const struct options *o, const char *format)
{
	size_t len;

	return trace_written(t, o, format, &len);
}

char *script_formatted(const char *script, const struct options *o, const char *format)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	char *text;

	trace_choose_frames(t, o->native);
	text = trace_formatted(t, o, format);
	trace_close(t);
	synth_free(m);
	return text;
}

char *trace_folded(const struct trace *t, const struct options *o)
{
	return trace_formatted(t, o, "folded");
}

char *script_folded(const char *script, const struct options *o)
{
	return script_formatted(script, o, "folded");
}

static void put_us(FILE *out, uint64_t ns)
{
	fprintf(out, "%llu", (unsigned long long)(ns / 1000));
	if (ns % 1000)
		fprintf(out, ".%03llu", (unsigned long long)(ns % 1000));
}

static void put_stretch(FILE *out, const struct wait *w)
{
	static const char *const flags[] = { "early",	    "not woken", "no waking",
					     "since start", "new",	 "still" };

	put_us(out, w->out_ns);
	if (w->kind == WAIT_SLEEP) {
		putc('-', out);
		put_us(out, w->wake_ns);
	}
	putc('-', out);
	put_us(out, w->in_ns);
	if (w->kind == WAIT_SLEEP)
		fprintf(out, " %c", w->state);
	else
		fputs(w->kind == WAIT_PREEMPTED ? " preempted" : " unknown", out);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (w->flags & 1 << i)
			fprintf(out, ", %s", flags[i]);
	putc('\n', out);
}

char *script_timeline(const char *script, char thread)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	MUST(out && !timelines_new(&tl, t));
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (th->tid != tid_of((char[]) { thread, 0 }))
			continue;
		for (uint32_t k = 0; k < th->n_waits; k++)
			put_stretch(out, &th->waits[k]);
		fputs("lived ", out);
		put_us(out, th->begin_ns);
		putc('-', out);
		put_us(out, th->end_ns);
		putc('\n', out);
	}
	fclose(out);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
	return text;
}

void expect_text(char *got, const char *expected)
{
	if (strcmp(got, expected)) {
		fprintf(stderr, "---- expected\n%s---- got\n%s----\n", expected, got);
		free(got);
		fail();
	}
	free(got);
}
