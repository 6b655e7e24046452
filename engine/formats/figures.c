// SPDX-License-Identifier: GPL-2.0-or-later
#include "figures.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/cpu_holders.h"
#include "base/compare.h"
#include "cause_words.h"
#include "causes/causes.h"
#include "chain_lines.h"
#include "common/xalloc.h"
#include "select/scope.h"
#include "subjects.h"

/* Steps that have less than one of so many parts of a figure are not compared. */
#define LEAST_STEP 1000
/* Endpoints whose slowest requests are explained: those with most time. */
#define EXPLAINED_MOST 16
/* So many requests are looked at first, the slowest ones. */
#define LOOKED_AT_FIRST 64
/* The 99th percentile of fewer requests says nothing. */
#define REQUESTS_LEAST 20

/* Of processes, by id. */
struct bits {
	bool *is;
	size_t n;
};

struct maker {
	struct cpu_holders *cpu_holders;
	struct figures *f;
	const struct format_input *in;
	struct subjects subjects;
	bool *own; /* by text: it is the name of a thread of the program's own */
	size_t cap_own;
	size_t n_explained;
	struct chain_steps *load; /* watches how long others had the CPU */
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* The text, which is the caller's; "" becomes that, not NULL. */
static char *take(struct text_buf *b)
{
	return b->p ? b->p : xstrdup("");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *text_of(const struct names *n, uint32_t text)
{
	return text ? names_text(n, text) : "";
}

static void put_key(struct text_buf *b, const struct names *n, const struct chain_step *at,
		    uint32_t step)
{
	const struct chain_step *s = &at[step];
	char kind[32];

	if (s->above)
		put_key(b, n, at, s->above);
	snprintf(kind, sizeof(kind), "\n%d %d %d;", s->kind, s->is_end ? 1 + (int)s->end : 0,
		 s->throttled);
	text_puts(b, kind);
	text_put_plain(b, text_of(n, s->who));
	text_puts(b, ";");
	/* Where a thread runs mostly is no part of what it is. */
	text_put_plain(b, s->is_end ? "" : text_of(n, s->at));
	text_puts(b, ";");
	text_put_plain(b, s->is_end ? "" : text_of(n, s->what));
}

static uint64_t less_of(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void add_step(struct maker *m, struct figure *of, const struct chain_steps *steps,
		     uint32_t step, uint64_t parts, const struct chain_line *line)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(steps, &n);
	const struct names *names = m->subjects.names;
	struct text_buf key = { 0 };
	struct figure_step *s = &of->steps[of->n_steps++];

	put_key(&key, names, at, step);
	*s = (struct figure_step) { .key = take(&key),
				    .ns = less_of(at[step].ns, at[step].held_ns) / parts };
	if (!line)
		return;
	s->who = xstrdup(line->who);
	s->at = xstrdup(line->at);
	s->words = xstrdup(line->words);
	s->depth = line->indent;
}

/* parts: how many requests they sum up. */
static void add_steps(struct maker *m, struct figure *of, const struct chain_steps *steps,
		      uint64_t parts)
{
	struct chain_lines l;
	uint32_t n;
	const struct chain_step *at = chain_steps_list(steps, &n);
	bool *is_line = xcalloc(n, sizeof(*is_line));

	chain_lines_make(&l, steps, m->subjects.names, CHAIN_LINES_MOST);
	of->steps = xcalloc(n + 1, sizeof(*of->steps));
	for (size_t i = 0; i < l.n; i++) {
		is_line[l.line[i].step] = true;
		add_step(m, of, steps, l.line[i].step, parts, &l.line[i]);
	}
	for (uint32_t i = 1; i < n; i++)
		if (!is_line[i] && LEAST_STEP * at[i].ns >= chain_steps_total_ns(steps))
			add_step(m, of, steps, i, parts, NULL);
	chain_lines_free(&l);
	free(is_line);
}

uint64_t figure_step_ns(const struct figure *of, const char *key)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < of->n_steps; i++)
		ns += strcmp(of->steps[i].key, key) ? 0 : of->steps[i].ns;
	return ns;
}

/* ---- others' load ---------------------------------------------------------------------------- */

/* The names of a thread are those of the program's own. */
static void own_thread(struct maker *m, uint32_t thread)
{
	const struct timelines *tl = m->in->timelines;

	for (uint32_t k = 0; k <= timelines_thread(tl, thread)->renames; k++) {
		uint32_t name = names_string(m->subjects.names, timelines_nth_name(tl, thread, k));

		XGROW_ZEROED(m->own, name, m->cap_own);
		m->own[name] = true;
	}
}

static bool serves(const struct bits *servers, const struct timelines *tl, uint32_t thread)
{
	uint32_t tgid = timelines_thread(tl, thread)->tgid;

	return tgid && tgid < servers->n && servers->is[tgid];
}

/* Own threads are those that are chosen, or, as nobody chose, those of processes that answer. */
static void find_own(struct maker *m)
{
	const struct timelines *tl = m->in->timelines;
	size_t n_requests;
	const struct request *q = timelines_requests(tl, &n_requests);
	struct bits servers = { .n = trace_info(m->in->trace)->tids_end };
	bool *chosen;

	scope_find(&chosen, tl, m->in->options);
	servers.is = xcalloc((size_t)servers.n + 1, sizeof(*servers.is));
	for (size_t i = 0; i < n_requests; i++)
		if (q[i].writer != THREAD_NONE &&
		    timelines_thread(tl, q[i].writer)->tgid < servers.n)
			servers.is[timelines_thread(tl, q[i].writer)->tgid] = true;
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (m->f->chosen ? chosen[i] : serves(&servers, tl, i))
			own_thread(m, i);
	free(chosen);
	free(servers.is);
}

/*
 * A chain_steps_holder_fn: whether it is another program's load that it had the CPU. A quota is a
 * cause, and on the way to a CPU that nobody has a thread waits for nobody.
 */
static bool is_load(void *arg, uint32_t who)
{
	const struct maker *m = arg;
	uint32_t name;

	if (cpu_holder_throttled(who) || who == HOLDER_IDLE || who == HOLDER_UNKNOWN)
		return false;
	if (who >= HOLDER_NAMES || cpu_holder_group(who))
		return true;
	name = names_string(m->subjects.names, who);
	return name >= m->cap_own || !m->own[name];
}

/* How long others had the CPU in what took so long. */
static void own_time(struct maker *m, const struct chosen_wait *p, uint64_t *ns)
{
	uint64_t before_ns = chain_steps_held_ns(m->load), load_ns;

	chain_steps_add(m->load, p);
	load_ns = chain_steps_held_ns(m->load) - before_ns;
	*ns = less_of(*ns, load_ns);
}

/* ---- figures --------------------------------------------------------------------------------- */

static struct figure *add(struct maker *m, enum figure_kind kind)
{
	XGROW(m->f->at, m->f->n, m->f->cap);
	m->f->at[m->f->n] = (struct figure) { .kind = kind };
	return &m->f->at[m->f->n++];
}

static void add_command(struct maker *m, const struct subject *of)
{
	struct figure *f = add(m, FIGURE_COMMAND);
	struct chain_steps *steps = NULL;

	m->f->of_command = of->ended;
	f->key = xstrdup("");
	f->title = xstrdup(names_text(m->subjects.names, of->name));
	f->ns = of->took_ns;
	f->counts = of->ended;
	chain_steps_new(&steps, m->in->timelines, &m->subjects.of_threads, m->subjects.names,
			m->subjects.known);
	chain_steps_watch(steps, is_load, m);
	chain_steps_add_life(steps, of->thread, of->from_ns, of->from_ns + f->ns);
	chain_steps_end(steps);
	f->own_ns = less_of(f->ns, chain_steps_held_ns(steps));
	add_steps(m, f, steps, 1);
	chain_steps_free(steps);
}

static void name_endpoint(struct maker *m, struct figure *f, const struct request_endpoint *e)
{
	struct text_buf title = { 0 }, loose = { 0 };

	names_put(&title, trace_string(m->in->trace, e->name));
	if (e->process) {
		text_puts(&title, " ");
		names_put(&title, trace_string(m->in->trace, e->process));
	}
	f->title = take(&title);
	f->key = xstrdup(f->title ? f->title : "");
	text_put_plain(&loose, f->key);
	f->loose = take(&loose);
}

/* A request, and how long it took without others' load. */
struct length {
	uint64_t ns;
	const struct chosen_wait *of;
};

/* Where the 99th percentile is among n, the quickest first, as requests_percentile() has it. */
static size_t percentile_99(const struct length *at, size_t n)
{
	uint64_t all = 0, rank;

	for (size_t i = 0; i < n; i++)
		all += request_weight(at[i].of);
	rank = (all * 990 + 999) / 1000;
	while (n-- > 1) {
		all -= request_weight(at[n].of);
		if (all < rank)
			return n;
	}
	return 0;
}

static int by_length(const void *pa, const void *pb)
{
	const struct length *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(a->ns, b->ns);
	return compare_numbers((uintptr_t)a->of, (uintptr_t)b->of);
}

/*
 * Looks at the slowest requests, and at more of them until no other one can be among the slowest
 * (requests_slowest()) without others' load. Those that are not looked at have length 0.
 */
static void find_lengths(struct maker *m, struct length *lengths, struct requests_taken all)
{
	size_t slow = all.n - requests_slowest(all).n, from = all.n, rank, next;

	for (size_t i = 0; i < all.n; i++)
		lengths[i] = (struct length) { 0, &all.at[i] };
	do {
		/* As many again as there are, so that they are sorted a few times only. */
		next = all.n - from > LOOKED_AT_FIRST ? all.n - from : LOOKED_AT_FIRST;
		next = from > next ? from - next : 0;
		/* What is not looked at yet is before what is; that is sorted. */
		for (size_t i = next; i < from; i++) {
			lengths[i].ns = request_took_ns(&all.at[i]);
			own_time(m, &all.at[i], &lengths[i].ns);
		}
		from = next;
		qsort(&lengths[from], all.n - from, sizeof(*lengths), by_length);
		rank = percentile_99(lengths, all.n);
		rank = rank < slow ? rank : slow;
	} while (from && (from > rank || lengths[rank].ns < request_took_ns(&all.at[from - 1])));
}

/* The chain of the slowest. */
static void explain_slowest(struct maker *m, struct figure *f, const struct length *lengths,
			    size_t slowest)
{
	struct chain_steps *steps;

	chain_steps_new(&steps, m->in->timelines, &m->subjects.of_requests, m->subjects.names,
			m->subjects.known);
	chain_steps_watch(steps, is_load, m);
	for (size_t i = f->n_took - slowest; i < f->n_took; i++)
		chain_steps_add(steps, lengths[i].of);
	chain_steps_end(steps);
	add_steps(m, f, steps, slowest);
	chain_steps_free(steps);
}

static void add_endpoint(struct maker *m, const struct subject *of)
{
	struct requests_taken all = of->requests->all;
	struct length *lengths = xcalloc(all.n, sizeof(*lengths));
	struct figure *f = add(m, FIGURE_ENDPOINT);

	find_lengths(m, lengths, all);
	name_endpoint(m, f, of->requests->endpoint);
	f->ns = requests_percentile(all, 990);
	f->own_ns = lengths[percentile_99(lengths, all.n)].ns;
	f->n_took = all.n;
	f->took = xcalloc(all.n, sizeof(*f->took));
	for (size_t i = 0; i < all.n; i++) {
		f->requests += request_weight(lengths[i].of);
		f->took[i] = (struct figure_request) { lengths[i].ns, f->requests };
	}
	f->counts = f->requests >= REQUESTS_LEAST;
	/* Of those that take little time it is told how much, but not why. */
	if (m->n_explained++ < EXPLAINED_MOST)
		explain_slowest(m, f, lengths, requests_slowest(all).n);
	free(lengths);
}

static void add_subjects(struct maker *m)
{
	subjects_find_all(&m->subjects, m->in, m->cpu_holders);
	chain_steps_new(&m->load, m->in->timelines, &m->subjects.of_requests, m->subjects.names,
			m->subjects.known);
	find_own(m);
	chain_steps_watch(m->load, is_load, m);
	for (size_t i = 0; i < m->subjects.n; i++) {
		const struct subject *of = &m->subjects.at[i];

		if (of->kind == SUBJECT_COMMAND)
			add_command(m, of);
		else if (of->kind == SUBJECT_ENDPOINT)
			add_endpoint(m, of);
	}
}

/* Its text, without numbers and shares; in one recording several causes may have the same. */
static char *key_of_cause(const struct names *n, const struct cause *c)
{
	struct text_buf b = { 0 };
	char end[64];

	snprintf(end, sizeof(end), "%d %d %u %d;", c->end, c->throttled, c->tcp_timer, c->itself);
	text_puts(&b, end);
	text_put_plain(&b, text_of(n, c->who));
	text_puts(&b, ";");
	text_put_plain(&b, text_of(n, c->lock));
	return take(&b);
}

static char *title_of_cause(const struct names *n, const struct causes *all, const struct cause *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	causes_put_short(f, n, all, c, false);
	xmemstream_close(f, &text);
	return text;
}

/* Of the recording of a command all of it, else what a second has. */
static uint64_t rate(const struct maker *m, uint64_t ns)
{
	return m->f->of_command ? ns : (uint64_t)((double)ns * 1e9 / (double)m->f->duration_ns);
}

static void add_cause(struct maker *m, size_t first, const struct names *n,
		      const struct causes *all, const struct cause *c)
{
	char *key = key_of_cause(n, c);
	struct figure *f = NULL;

	for (size_t i = first; key && i < m->f->n && !f; i++)
		f = strcmp(m->f->at[i].key, key) ? NULL : &m->f->at[i];
	if (f) {
		free(key);
	} else {
		f = key ? add(m, FIGURE_CAUSE) : NULL;
		if (!f) {
			free(key);
			return;
		}
		f->key = key;
		f->title = title_of_cause(n, all, c);
		/* Nobody knows what these were. */
		f->counts =
			c->end != CHAIN_UNKNOWN && c->end != CHAIN_DEPTH && c->end != CHAIN_LOOP;
	}
	f->ns += rate(m, c->ns);
	f->own_ns += rate(m, c->ns - c->no_cpu_ns);
}

static void add_causes(struct maker *m)
{
	struct options o = causes_options(m->in->options);
	struct names *names;
	struct wait_filter *filter = NULL;
	struct causes *causes = NULL;
	const struct cause *at;
	size_t first = m->f->n, n;

	names_new(&names, m->in->timelines, &o);
	wait_filter_new(&filter, m->in->timelines, &o, names);
	causes_new(&causes, m->in->timelines, &o, names, filter, m->cpu_holders);
	at = causes_list(causes, &n);
	/* Other programs' load is no cause of the program's own. */
	for (size_t i = 0; i < causes_without_pauses(causes); i++)
		if (at[i].end != CHAIN_RUNNABLE || at[i].throttled)
			add_cause(m, first, names, causes, &at[i]);
	causes_free(causes);
	wait_filter_free(filter);
	names_free(names);
}

void figures_make(struct figures *f, const struct format_input *in, const char *name)
{
	struct maker m = { .f = f, .in = in };
	const struct trace_info *info = trace_info(in->trace);
	uint64_t ns = timelines_end_ns(in->timelines) - timelines_start_ns(in->timelines);

	f->name = xstrdup(name);
	f->duration_ns = ns ? ns : 1;
	f->events = info->events;
	f->lost = info->lost;
	f->chosen = subjects_chosen(in->options);
	cpu_holders_new(&m.cpu_holders, in->timelines, true);
	add_subjects(&m);
	add_causes(&m);
	chain_steps_free(m.load);
	subjects_free(&m.subjects);
	cpu_holders_free(m.cpu_holders);
	free(m.own);
}

void figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct figure *of = &f->at[i];

		for (size_t k = 0; k < of->n_steps; k++) {
			free(of->steps[k].key);
			free(of->steps[k].who);
			free(of->steps[k].at);
			free(of->steps[k].words);
		}
		free(of->steps);
		free(of->took);
		free(of->key);
		free(of->loose);
		free(of->title);
	}
	free(f->at);
	free(f->name);
	*f = (struct figures) { .n = 0 };
}
