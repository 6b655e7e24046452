// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "words/object_names.h"
#include "common/xalloc.h"

/* ---- paths: the threads through which a cause came to those who waited ----------------------- */

/* A chain that ends in the cause, and its time. */
struct path_chain {
	uint64_t ns;
	uint32_t node;
};

/* Threads of one name that follow each other in a chain, and where the chain goes on. */
struct stage {
	uint32_t who, times;
	uint32_t up; /* the node after them, towards the one who waited; 0: none */
};

static struct stage stage_at(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct stage s = { 0 };

	for (; node; node = nodes[node].a) {
		struct label l = causes_label(c, nodes[node].b);

		if (!l.who) /* an interrupt */
			continue;
		if (s.who && s.who != l.who)
			break;
		s.who = l.who;
		s.times++;
	}
	s.up = node;
	return s;
}

/* Time by stage. */
struct stage_sum {
	uint64_t ns;
	uint32_t who, times;
};

/* The more time, the better; among equals the name decides, then how many times. */
static bool is_wider(const struct causes *c, const struct stage_sum *a, const struct stage_sum *b)
{
	int order = strcmp(names_text(c->names, a->who), names_text(c->names, b->who));

	if (a->ns != b->ns)
		return a->ns > b->ns;
	return order ? order < 0 : a->times < b->times;
}

/* Of the threads in a path. */
#define STAGES_SHOWN 6u

/*
 * The threads through which most of the time of the n chains came. times: how often they follow
 * each other there, mostly.
 */
static struct stage_sum widest_stage(const struct causes *c, const struct path_chain *at, size_t n)
{
	struct pair_table sums = { .cap = 0 };
	struct stage_sum widest = { 0 }, mostly = { 0 };

	/* The sums of all times have 0 times. */
	for (size_t i = 0; i < 2 * n; i++) {
		struct stage stage = stage_at(c, at[i / 2].node);
		uint32_t times = i % 2 ? stage.times : 0;
		struct stage_sum *s = pair_table_at(&sums, stage.who, times, sizeof(*s));

		*s = (struct stage_sum) { s->ns + at[i / 2].ns, stage.who, times };
	}
	for (uint32_t i = 1; i <= sums.keys.n; i++) {
		const struct stage_sum *s = &((const struct stage_sum *)sums.at)[i];

		if (!s->times && is_wider(c, s, &widest))
			widest = *s;
	}
	for (uint32_t i = 1; i <= sums.keys.n; i++) {
		const struct stage_sum *s = &((const struct stage_sum *)sums.at)[i];

		if (s->times && s->who == widest.who && is_wider(c, s, &mostly))
			mostly = *s;
	}
	widest.times = mostly.times;
	pair_table_free(&sums);
	return widest;
}

/* Keeps the chains that have the stage, behind it. Returns how many. */
static size_t pass(const struct causes *c, struct path_chain *at, size_t n,
		   const struct stage_sum *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct stage stage = stage_at(c, at[i].node);

		if (stage.who == s->who && stage.up)
			at[kept++] = (struct path_chain) { at[i].ns, stage.up };
	}
	return kept;
}

static void put_stage(struct text_buf *path, const char *who, uint32_t times)
{
	struct text_buf b = { 0 };
	char count[32] = "";

	if (times > 1)
		snprintf(count, sizeof(count), " x %" PRIu32, times);
	text_puts(&b, who);
	text_puts(&b, count);
	text_puts(&b, path->len ? " <- " : "");
	text_puts(&b, path->len ? path->p : "");
	path->len = 0;
	text_puts(path, b.p);
	text_free(&b);
}

/*
 * "client <- worker x 6 <- janitor": from the cause on always to the threads through which most of
 * its time came, as long as that is a quarter of what came so far: who waits behind a thread
 * counts, even if that thread's own waits are more. Of more than STAGES_SHOWN those next to the
 * cause. Returns a text id; changes at[]. *head: the first of them, 0 if it is not shown.
 */
static uint32_t path_text(const struct causes *c, struct path_chain *at, size_t n, uint32_t *head)
{
	struct text_buf path = { 0 };
	unsigned int stages = 0;
	uint64_t before_ns = 0;
	uint32_t id;

	*head = 0;
	while (n) {
		struct stage_sum s = widest_stage(c, at, n);

		if (!s.who || s.ns < before_ns / 4)
			break;
		if (stages++ == STAGES_SHOWN) {
			put_stage(&path, "...", 1);
			*head = 0;
			break;
		}
		*head = s.who;
		put_stage(&path, names_text(c->names, s.who), s.times);
		before_ns = s.ns;
		n = pass(c, at, n, &s);
	}
	id = names_adopt(c->names, path.len ? path.p : "");
	text_free(&path);
	return id;
}

/* Sets the path of each cause. */
static void find_paths(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;
	struct path_chain *at = xcalloc((size_t)c->sums.keys.n + 1, sizeof(*at));
	size_t *first = xcalloc(c->n + 2, sizeof(*first));

	/* Sorted by cause, which count from 1: those of k are at first[k] and behind it. */
	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		first[sums[i].cause + 1]++;
	for (size_t k = 1; k <= c->n + 1; k++)
		first[k] += first[k - 1];
	for (uint32_t i = 1; i <= c->sums.keys.n; i++) {
		bool lock = c->at[sums[i].cause - 1].lock;

		at[first[sums[i].cause]++] =
			(struct path_chain) { sums[i].ns, lock ? causes_lock_link(c, sums[i].node)
							       : sums[i].node };
	}
	/* Now those of k end where first[k] is. */
	for (size_t k = 1; k <= c->n; k++)
		c->at[k - 1].path = path_text(c, at + first[k - 1], first[k] - first[k - 1],
					      &c->at[k - 1].head);
	free(at);
	free(first);
}

/* A sums_text_fn: the order of equal sums does not matter. */
static uint32_t no_text(struct names *names, uint32_t key)
{
	(void)key;
	return names_adopt(names, "sum");
}

/* What the sleep of a node's label was for: before its waking, or of a head. */
static void add_what(struct causes *c, struct sums *to, const struct chain_sum *s, uint32_t node)
{
	uint32_t what = causes_label(c, c->chains.nodes.at[node].b).what;

	if (what && *names_text(c->names, what))
		sums_add(to, s->cause, what, s->ns);
}

/* What was done while a lock was held: "ran", "B slept in fsync". */
static uint32_t held_text(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[s->node].b);
	uint32_t who = last.who;
	enum chain_end end = causes_end(s->end);
	struct text_buf b = { 0 };
	uint32_t id;

	if (!who)
		who = causes_label(c, nodes[causes_sleeper(c, s->node, &last)].b).who;
	if (who != c->at[s->cause - 1].who) {
		text_puts(&b, names_text(c->names, who));
		text_puts(&b, " ");
	}
	if (end == CHAIN_RUNNING) {
		text_puts(&b, "ran");
	} else if (end == CHAIN_RUNNABLE) {
		text_puts(&b, s->end & THROTTLED ? "was throttled" : "had no CPU");
	} else if (chain_end_is_interrupt(end) && *names_text(c->names, last.slept)) {
		text_puts(&b, "slept in ");
		text_puts(&b, names_text(c->names, last.slept));
	} else {
		text_puts(&b, end == CHAIN_UNKNOWN ? "did something unknown" : "slept");
	}
	id = names_adopt(c->names, b.p);
	text_free(&b);
	return id;
}

/* A cause that is a lock: what its holder did, and where it released it. */
static void add_lock_texts(struct causes *c, const struct chain_sum *s)
{
	uint32_t lock = causes_lock_link(c, s->node);
	uint32_t woke = causes_label(c, c->chains.nodes.at[lock].b).woke;

	sums_add(&c->lock_parts, s->cause, held_text(c, s), s->ns);
	if (causes_end(s->end) == CHAIN_RUNNABLE && !(s->end & THROTTLED))
		c->at[s->cause - 1].no_cpu_ns += s->ns;
	if (woke && *names_text(c->names, woke))
		sums_add(&c->wheres, s->cause, woke, s->ns);
}

/* "disk vda write": what a device did. */
static void add_operation(struct causes *c, const struct chain_sum *s)
{
	struct disk_request_kind kind = timelines_disk_request_kind(c->timelines, s->disk);
	struct text_buf b = { 0 };
	uint32_t text;

	disk_names_put(c->trace, kind.disk, kind.op, &b);
	text = names_clean(c->names, b.p);
	text_free(&b);
	sums_add(&c->operations, s->cause, text, s->ns);
}

static void add_texts(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[s->node].b);
	enum chain_end end = causes_end(s->end);
	uint32_t thread = s->node;

	if (last.is_text)
		return;
	if (c->at[s->cause - 1].lock) {
		add_lock_texts(c, s);
		return;
	}
	if (end == CHAIN_RUNNING && last.woke && *names_text(c->names, last.woke))
		sums_add(&c->wheres, s->cause, last.woke, s->ns);
	if (!last.who) { /* an interrupt */
		thread = causes_sleeper(c, thread, &last);
		if (end == CHAIN_DISK)
			add_operation(c, s);
		if (end == CHAIN_DISK && *names_text(c->names, last.slept))
			sums_add(&c->wheres, s->cause, last.slept, s->ns);
		if (last.what && *names_text(c->names, last.what))
			sums_add(&c->whats, s->cause, last.what, s->ns);
	} else if (!nodes[thread].a &&
		   (end == CHAIN_NOT_WOKEN || end == CHAIN_UNKNOWN || end == CHAIN_ENDS)) {
		add_what(c, &c->whats, s, thread);
	}
	if (nodes[thread].a)
		add_what(c, &c->wakee_whats, s, thread);
}

#define HOLDERS_SHOWN 3
#define VICTIMS_SHOWN 3
#define WHOLE_FROM_NS 10000000u
#define HELD_SHOWN 4

/* The text that write() writes; 0 if it is empty. */
static uint32_t written_text(struct causes *c, const struct cause *cause,
			     void (*write)(const struct causes *c, const struct cause *of, FILE *f))
{
	char *written = NULL;
	uint32_t text = 0;
	size_t len;
	FILE *f = xmemstream(&written, &len);

	write(c, cause, f);
	xmemstream_close(f, &written);
	if (written && *written) {
		text = names_adopt(c->names, written);
	}
	free(written);
	return text;
}

/* "the quota of its control group batch.slice was used up". */
static void write_quotas(const struct causes *c, const struct cause *of, FILE *f)
{
	size_t n;
	const struct sum *at = sums_of(&c->had, of->id, &n);

	for (size_t i = 0; i < n && i < HOLDERS_SHOWN; i++) {
		uint32_t path = cpu_holder_quota(at[i].key);

		fputs(i ? "; " : "", f);
		if (n > 1)
			fprintf(f, "%.0f %% ", 100 * (double)at[i].amount / (double)of->ns);
		if (at[i].key == HOLDER_RUNTIME)
			fputs("its own runtime (SCHED_DEADLINE) was used up", f);
		else if (at[i].key == HOLDER_REALTIME)
			fputs("the time for realtime threads (sched_rt_runtime_us) was used up", f);
		else
			fprintf(f, "the %s of its control group%s%s was used up",
				of->end == CHAIN_DISK ? "I/O limit" : "quota", path ? " " : "",
				path ? names_text(c->names, names_group_path(c->names, path)) : "");
	}
}

/* "61 % gzip, 39 % make": who had the CPU, if anybody is known. */
static void write_holders(const struct causes *c, const struct cause *of, FILE *f)
{
	if (of->throttled) {
		write_quotas(c, of, f);
		return;
	}
	sums_write(&c->had, c->names, of->id, HOLDERS_SHOWN, "", "[unknown]", f);
}

static void write_held(const struct causes *c, const struct cause *of, FILE *f)
{
	sums_write(&c->lock_parts, c->names, of->id, HELD_SHOWN, "", "[unknown]", f);
}

static void write_operations(const struct causes *c, const struct cause *of, FILE *f)
{
	sums_write(&c->operations, c->names, of->id, HOLDERS_SHOWN, "", "[unknown]", f);
}

/* "sh wait 477.000 ms, make x 3 3.000 ms and 2 others". */
static void write_victims(const struct causes *c, const struct cause *of, FILE *f)
{
	size_t n;
	const struct sum *at = sums_of(&c->victims, of->id, &n);

	for (size_t i = 0; i < n && i < VICTIMS_SHOWN; i++) {
		char text[TEXT_MS_SIZE], *point;

		text_ms(text, at[i].amount);
		/* Of more than ten milliseconds nobody reads the parts. */
		point = at[i].amount < WHOLE_FROM_NS ? NULL : strchr(text, '.');
		if (point)
			*point = 0;
		fprintf(f, "%s%s", i ? ", " : "", names_text(c->names, at[i].text));
		if (at[i].count > 1)
			fprintf(f, " x %" PRIu64, at[i].count);
		fprintf(f, "%s %s ms", i ? "" : " wait", text);
	}
	if (n > VICTIMS_SHOWN)
		fprintf(f, " and %zu other%s", n - VICTIMS_SHOWN, n > VICTIMS_SHOWN + 1 ? "s" : "");
}

/* From this part on it is all, in whole percent. */
#define WHOLE 0.995

/* How much of the sums of a thing the largest has. */
static double largest_part(const struct sums *s, uint32_t thing)
{
	size_t n;
	const struct sum *of = sums_of(s, thing, &n);
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += of[i].amount;
	return all ? (double)of->amount / (double)all : 1;
}

/* Texts are named: the first that has this much of the time, and the second that has so much. */
static const double least_part[] = { 0.1, 0.25 };
#define PARTS_SHOWN (sizeof(least_part) / sizeof(least_part[0]))

/*
 * "read < ask (52 %), write < tell (40 %)": the texts that have most of a cause's time, and how
 * much; 0: none has much. repeated: what they begin with is said once.
 */
static uint32_t parts_text(struct causes *c, const struct sums *s, const struct cause *of,
			   const char *repeated)
{
	size_t n, skip = strlen(repeated);
	const struct sum *at = sums_of(s, of->id, &n);
	struct text_buf b = { 0 };
	bool begins, first_begins = false;
	uint32_t id;

	for (size_t i = 0; i < n && i < PARTS_SHOWN; i++) {
		const char *text = names_text(c->names, at[i].text);
		double part = (double)at[i].amount / (double)of->ns;
		char share[32];

		if (part < least_part[i])
			break;
		text_puts(&b, i ? ", " : "");
		begins = !strncmp(text, repeated, skip);
		text_puts(&b, text + (i && begins && first_begins ? skip : 0));
		first_begins = i ? first_begins : begins;
		snprintf(share, sizeof(share), " (%.0f %%)", 100 * part);
		text_puts(&b, part < WHOLE ? share : "");
	}
	id = b.len ? names_adopt(c->names, b.p) : 0;
	text_free(&b);
	return id;
}

/*
 * As parts_text(), of what was waited for; where that was very many things, each with little of the
 * time, as the pipes of a script's commands are, their classes.
 */
static uint32_t what_text(struct causes *c, const struct sums *s, const struct cause *of)
{
	size_t n;
	const struct sum *at = sums_of(s, of->id, &n);
	struct sums classes = { 0 };
	uint32_t id;

	if (!n || (double)at[0].amount / (double)of->ns >= least_part[0])
		return parts_text(c, s, of, "");
	for (size_t i = 0; i < n; i++) {
		const char *text = names_text(c->names, at[i].text);
		char class[32];

		if (!at[i].text)
			continue;
		snprintf(class, sizeof(class), "%.*s", (int)strcspn(text, " "), text);
		sums_add(&classes, of->id, names_adopt(c->names, class), at[i].amount);
	}
	sums_sort(&classes, c->names, sums_key_is_text);
	id = parts_text(c, &classes, of, "");
	sums_free(&classes);
	return id;
}

/* How much of the time of a lock its holder ran. */
static double held_ran(struct causes *c, const struct cause *of)
{
	uint32_t ran = names_adopt(c->names, "ran");
	size_t n;
	const struct sum *at = sums_of(&c->lock_parts, of->id, &n);

	for (size_t i = 0; i < n; i++)
		if (at[i].text == ran)
			return (double)at[i].amount / (double)of->ns;
	return 0;
}

/* All that is written of causes by sums. */
static void sort_sums(struct causes *c)
{
	struct sums *const of_texts[] = { &c->wheres,  &c->whats,      &c->wakee_whats, &c->threads,
					  &c->victims, &c->lock_parts, &c->operations };

	for (size_t i = 0; i < sizeof(of_texts) / sizeof(of_texts[0]); i++) {
		sums_sort(of_texts[i], c->names, sums_key_is_text);
	}
	sums_sort(&c->had, c->names, cpu_holder_name);
	sums_sort(&c->woken, c->names, names_string);
	sums_sort(&c->by_length, c->names, no_text);
}

void causes_describe(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		add_texts(c, &sums[i]);
	sort_sums(c);
	for (size_t k = 0; k < c->n; k++) {
		struct cause *cause = &c->at[k];

		/* Others are told apart by it. */
		if (sums_dominant_text(&c->wheres, cause->id))
			cause->where = parts_text(c, &c->wheres, cause, "woke the waiter in ");
		cause->what = what_text(c, &c->whats, cause);
		cause->operations = sums_dominant_text(&c->operations, cause->id);
		if (largest_part(&c->operations, cause->id) < WHOLE)
			cause->operations = written_text(c, cause, write_operations);
		cause->wakee_what = what_text(c, &c->wakee_whats, cause);
		cause->thread = sums_dominant_text(&c->threads, cause->id);
		sums_of(&c->threads, cause->id, &cause->threads);
		cause->had = written_text(c, cause, write_holders);
		cause->held = written_text(c, cause, write_held);
		cause->held_ran = held_ran(c, cause);
		cause->victims = written_text(c, cause, write_victims);
	}
	find_paths(c);
	causes_find_slowest(c);
	causes_say_what_ran(c);
}
