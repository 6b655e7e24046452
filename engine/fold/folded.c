// SPDX-License-Identifier: GPL-2.0-or-later
#include "folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "attribute/sums.h"
#include "process_lines.h"

#define NS_PER_US 1000u

void folded_free(struct folded *l)
{
	text_free(&l->texts);
	free(l->of);
	free(l->parts);
	free(l->lines);
	text_free(&l->notes);
	free(l->remote);
	*l = (struct folded) { .n = 0 };
}

/* ---- adding --------------------------------------------------------------------------------- */

#define PARTS_MAX UINT32_MAX

/* Ends a part, whose text has been put since at: its number. */
static uint32_t end_part(struct folded *l, size_t at)
{
	if (l->n_of == PARTS_MAX)
		out_of_memory();
	XGROW(l->of, l->n_of, l->cap_of);
	l->of[l->n_of] = (struct folded_part) { at, l->texts.len - at };
	return (uint32_t)l->n_of++;
}

/* The parts of one fold: each list of frames is one, made when a row has it for the first time. */
struct adding {
	struct folded *lines;
	const struct chain_rows *rows;
	uint32_t *of_list;		 /* part + 1; 0: not made yet */
	uint32_t of_end[CHAIN_ENDS + 1]; /* likewise; the last one: CHAIN_OTHER */
	uint32_t label;			 /* likewise; 0: there is none */
	enum options_root root;
	uint32_t *of_class;	    /* likewise, by list */
	struct pair_table of_owner; /* likewise, by (string, 0); what is told beside, (text, 1) */
	/* What the rows of each group are below, by group - 1; NULL: they are not below others. */
	const struct folded_remote *below;
	uint32_t on_host; /* likewise: the part of the machine's name */
};

static void add_part(struct folded *l, uint32_t part)
{
	XAPPEND(l->parts, l->n_parts, l->cap_parts) = part;
}

static uint32_t part_of_list(struct adding *a, uint32_t list)
{
	const struct frame_lists *lists = interned_stacks_lists(a->rows->stacks);
	size_t at = a->lines->texts.len, n = frame_list_len(lists, list);

	if (a->of_list[list])
		return a->of_list[list] - 1;
	for (size_t i = 0; i < n; i++) {
		text_put(&a->lines->texts, ";", 1);
		text_puts(&a->lines->texts, frame_at(lists, frame_list_at(lists, list, i)).text);
	}
	a->of_list[list] = end_part(a->lines, at) + 1;
	return a->of_list[list] - 1;
}

/* The class of what a head's stack waited for. */
static uint32_t part_of_class(struct adding *a, uint32_t list)
{
	const struct frame_lists *lists = interned_stacks_lists(a->rows->stacks);
	size_t at = a->lines->texts.len;

	if (!a->of_class[list]) {
		text_put(&a->lines->texts, ";", 1);
		text_puts(&a->lines->texts, frame_list_class(lists, list));
		a->of_class[list] = end_part(a->lines, at) + 1;
	}
	return a->of_class[list] - 1;
}

/* The control group or the process of who waits. */
static uint32_t part_of_owner(struct adding *a, uint32_t group)
{
	uint32_t root = interned_stacks_thread_group(a->rows->stacks, group).root;
	uint32_t *of = pair_table_at(&a->of_owner, root, 0, sizeof(*of));
	struct names *names = interned_stacks_names(a->rows->stacks);
	size_t at = a->lines->texts.len;
	uint32_t text;

	if (!*of) {
		text = a->root == ROOT_CGROUP ? names_group_path(names, root)
					      : names_string(names, root);
		text_put(&a->lines->texts, ";", 1);
		text_puts(&a->lines->texts, names_text(names, text));
		*of = end_part(a->lines, at) + 1;
	}
	return *of - 1;
}

/* The process of who waits as it is told beside the line, with a 0 at its end; + 1, or 0. */
static uint32_t owner_beside(struct adding *a, const struct chain_row *row)
{
	struct names *names = interned_stacks_names(a->rows->stacks);
	size_t at = a->lines->texts.len;
	uint32_t root, text, *of;

	if (!interned_stacks_beside(a->rows->stacks) || a->below || !row->node)
		return 0;
	root = interned_stacks_thread_group(a->rows->stacks, chain_node_group(a->rows, row->node))
		       .root;
	if (!root)
		return 0;
	text = names_string(names, root);
	of = pair_table_at(&a->of_owner, text, 1, sizeof(*of));
	if (!*of) {
		text_puts(&a->lines->texts, names_text(names, text));
		*of = end_part(a->lines, at) + 1;
		text_put(&a->lines->texts, "", 1);
		a->lines->owned = true;
	}
	return *of;
}

static uint32_t part_of_end(struct adding *a, const struct chain_row *row, const char *text)
{
	uint32_t *of = &a->of_end[row->node ? row->end : CHAIN_ENDS];
	size_t at = a->lines->texts.len;

	if (!*of) {
		text_put(&a->lines->texts, ";", 1);
		text_puts(&a->lines->texts, text);
		*of = end_part(a->lines, at) + 1;
	}
	return *of - 1;
}

/* A socket, for which packets came, in place of the list that a row would have for it. */
static uint32_t part_of_socket(struct adding *a, uint32_t object)
{
	struct names *names = interned_stacks_names(a->rows->stacks);
	uint32_t text = names_object(names, object, names_full_objects(names));
	size_t at = a->lines->texts.len;

	text_put(&a->lines->texts, ";", 1);
	text_puts(&a->lines->texts, names_text(names, text));
	return end_part(a->lines, at);
}

/*
 * The parts from `first` on are a line that another machine explains: keeps it for that, unless
 * enough machines have been asked. Whether it did.
 */
static bool add_remote(struct adding *a, const struct chain_row *row, size_t first)
{
	const struct remote_answers *answers = a->rows->remote;
	struct remote_part part = remote_answers_part_at(answers, row->above & ~CHAIN_ROW_REMOTE);
	const struct remote_answer *answer = &answers->at[part.answer];
	struct folded *l = a->lines;
	uint32_t hops = a->below ? a->below[row->group - 1].hops : 0;

	if (part.socket)
		add_part(l, part_of_socket(a, part.socket));
	if (hops >= FOLDED_HOPS_MAX)
		return false;
	XAPPEND(l->remote, l->n_remote, l->cap_remote) = (struct folded_remote) {
		.part = { part.from_ns, part.to_ns, row->ns / (part.to_ns - part.from_ns),
			  answer->request },
		.first = first,
		.n = (uint32_t)(l->n_parts - first),
		.host = answer->host,
		.hops = hops + 1,
	};
	return true;
}

/* ran: samples of the row's time; NULL: the row itself. */
static void add_row(struct adding *a, const struct chain_row *row, const struct chain_ran *ran)
{
	struct folded *l = a->lines;
	const char *end = chain_row_end(a->rows, row);
	uint32_t path[CHAIN_PATH_MAX], above = chain_row_above(a->rows, row);
	size_t n = chain_row_path(a->rows, row, path), first = l->n_parts;

	XGROW(l->lines, l->n, l->cap);
	if (a->below) {
		const struct folded_remote *r = &a->below[chain_node_group(a->rows, row->node) - 1];

		for (uint32_t i = 0; i < r->n; i++)
			add_part(l, l->parts[r->first + i]);
		add_part(l, a->on_host - 1);
	}
	if (a->label)
		add_part(l, a->label - 1);
	if (a->root == ROOT_CLASS && n)
		add_part(l, part_of_class(a, path[n - 1]));
	if ((a->root == ROOT_CGROUP || a->root == ROOT_PROCESS) && row->node)
		add_part(l, part_of_owner(a, chain_node_group(a->rows, row->node)));
	while (n-- > 0)
		add_part(l, part_of_list(a, path[n]));
	if (end)
		add_part(l, part_of_end(a, row, end));
	if (above & CHAIN_ROW_REMOTE) {
		if (add_remote(a, row, first))
			return;
	} else if (above) {
		add_part(l, part_of_list(a, above));
	}
	if (ran)
		add_part(l, part_of_list(a, ran->list));
	l->lines[l->n++] = (struct folded_line) {
		.ns = row->ns,
		.samples = ran ? ran->samples : 0,
		.n = (uint32_t)(l->n_parts - first),
		.ran = row->end == CHAIN_RUNNING || row->end == CHAIN_ON_CPU,
		.owner = owner_beside(a, row),
		.first = first,
	};
}

/* A part of the frame `name`, + 1. */
static uint32_t part_of_name(struct folded *l, const char *before, const char *name,
			     const char *after)
{
	size_t at = l->texts.len;

	text_puts(&l->texts, before);
	names_put(&l->texts, name);
	text_puts(&l->texts, after);
	return end_part(l, at) + 1;
}

/* below, host: what the rows are below, if they are of another machine. */
static void add_rows(struct folded *l, struct chain_rows *rows, const char *label,
		     enum options_root root, const struct folded_remote *below, const char *host)
{
	struct adding a = { .lines = l, .rows = rows, .root = root, .below = below };

	a.of_list =
		xcalloc(frame_lists_end(interned_stacks_lists(a.rows->stacks)), sizeof(*a.of_list));
	a.of_class = xcalloc(frame_lists_end(interned_stacks_lists(a.rows->stacks)),
			     sizeof(*a.of_class));
	if (label)
		a.label = part_of_name(l, ";", label, "");
	if (below)
		a.on_host = part_of_name(l, ";[on ", host, "]");
	for (size_t i = 0; i < a.rows->n; i++)
		if (a.rows->at[i].ns)
			add_row(&a, &a.rows->at[i], NULL);
	for (size_t i = 0; i < a.rows->n_ran; i++) {
		const struct chain_ran *ran = &a.rows->ran[i];
		struct chain_row row = { .node = ran->node, .end = ran->end };

		add_row(&a, &row, ran);
		l->sampled = true;
	}
	free(a.of_list);
	free(a.of_class);
	pair_table_free(&a.of_owner);
}

void folded_add(struct folded *l, struct chain_rows *rows, const char *label,
		enum options_root root)
{
	add_rows(l, rows, label, root, NULL, NULL);
}

/* Adds the lines of n parts of requests, all of them of one machine. */
static void add_of_host(struct folded *l, const struct joined_host *host, const struct options *o,
			const struct folded_remote *at, size_t n)
{
	struct fold_remote *parts = xmalloc((n + 1) * sizeof(*parts));
	struct fold *f;

	for (size_t i = 0; i < n; i++)
		parts[i] = at[i].part;
	fold_new_remote(&f, host->timelines, o, parts, n);
	add_rows(l, fold_rows(f), NULL, ROOT_NONE, at, host->name);
	fold_free(f);
	free(parts);
}

static int by_host(const void *pa, const void *pb)
{
	const struct folded_remote *a = pa, *b = pb;

	return compare_numbers(a->host, b->host);
}

void folded_add_remote(struct folded *l, const struct joined_host *hosts, uint32_t n_hosts,
		       const struct options *o)
{
	while (l->n_remote) {
		struct folded_remote *at = l->remote;
		size_t n = l->n_remote;

		l->remote = NULL;
		l->n_remote = l->cap_remote = 0;
		qsort(at, n, sizeof(*at), by_host);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && at[end].host == at[i].host;)
				end++;
			if (at[i].host < n_hosts)
				add_of_host(l, &hosts[at[i].host], o, at + i, end - i);
		}
		free(at);
	}
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A line on its way out. */
struct weighed {
	uint64_t ns, weight;
	size_t line;	/* its place in the order of the texts */
	uint32_t owner; /* 0: not known, or several */
};

/* A way along the text of a line, which begins with a ';' that is not written. */
struct reading {
	const struct folded *lines;
	const uint32_t *part, *end;
	const char *p;
	size_t left; /* of the part */
};

/* line NULL: CHAIN_OTHER. */
static struct reading reading_of(const struct folded *l, const struct folded_line *line)
{
	static const char other[] = ";" CHAIN_OTHER;

	if (!line)
		return (struct reading) { l, NULL, NULL, other, sizeof(other) - 1 };
	return (struct reading) { l, l->parts + line->first, l->parts + line->first + line->n, NULL,
				  0 };
}

/* False at the end of the line. */
static inline bool next_part(struct reading *r)
{
	while (!r->left && r->part < r->end) {
		const struct folded_part *of = &r->lines->of[*r->part++];

		r->p = r->lines->texts.p + of->at;
		r->left = of->len;
	}
	return r->left;
}

/* Compares bytes. Lines that begin alike nearly always have the same first parts. */
static int by_text(const void *pa, const void *pb, void *lines)
{
	struct reading a = reading_of(lines, *(const struct folded_line *const *)pa);
	struct reading b = reading_of(lines, *(const struct folded_line *const *)pb);
	int order = 0;

	for (; a.part < a.end && b.part < b.end && *a.part == *b.part; a.part++)
		b.part++;
	while (!order) {
		bool more_a = next_part(&a), more_b = next_part(&b);
		size_t n = a.left < b.left ? a.left : b.left;

		if (!more_a || !more_b)
			return more_a - more_b;
		order = memcmp(a.p, b.p, n);
		a.p += n;
		a.left -= n;
		b.p += n;
		b.left -= n;
	}
	return order;
}

/* ---- samples -------------------------------------------------------------------------------- */

/* A line that ends running, or samples of one: base is the text of that. */
struct sharing {
	struct folded_line base;
	struct folded_line *line;
};

static int compare_lines(const struct folded_line *a, const struct folded_line *b,
			 struct folded *lines)
{
	return by_text(&a, &b, lines);
}

/* Orders by base, and below it first the times, then the samples by their text. */
static int by_base(const void *pa, const void *pb, void *lines)
{
	const struct sharing *a = pa, *b = pb;
	int order = compare_lines(&a->base, &b->base, lines);

	if (!order)
		order = !!a->line->samples - !!b->line->samples;
	return order ? order : compare_lines(a->line, b->line, lines);
}

/* Gives the time of s[0..n), which have one base, to the samples among them. numbers: 2 * n. */
static void share_base(struct folded *l, const struct sharing *s, size_t n, uint64_t *numbers)
{
	uint64_t total = 0, *samples = numbers, *shares = numbers + n;
	size_t times = 0, texts = 0;

	for (; times < n && !s[times].line->samples; times++)
		total += s[times].line->ns;
	if (times == n)
		return;
	for (size_t i = times; i < n; i++) {
		if (i > times && !compare_lines(s[i - 1].line, s[i].line, l))
			samples[texts - 1] += s[i].line->samples;
		else
			samples[texts++] = s[i].line->samples;
	}
	share_out(total, samples, texts, shares);
	for (size_t i = 0; i < times; i++)
		s[i].line->ns = 0;
	/* The first line of a text has the share of all of them. */
	for (size_t i = times, text = 0; i < n; i++)
		if (i == times || compare_lines(s[i - 1].line, s[i].line, l))
			s[i].line->ns = shares[text++];
}

/* Gives the times of chains that end running to their samples. */
static void share_time(struct folded *l)
{
	struct sharing *s = xmalloc((l->n + 1) * sizeof(*s));
	uint64_t *numbers = xmalloc((l->n + 1) * 2 * sizeof(*numbers));
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct folded_line *line = &l->lines[i];

		if (!line->ran)
			continue;
		s[n] = (struct sharing) { *line, line };
		s[n++].base.n -= line->samples > 0;
	}
	if (n)
		qsort_r(s, n, sizeof(*s), by_base, l);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_lines(&s[i].base, &s[end].base, l);)
			end++;
		share_base(l, s + i, end - i, numbers);
	}
	free(s);
	free(numbers);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Sorts the lines and sums up those with the same text, in w. Returns how many are left. */
static size_t merge_lines(struct folded *l, const struct folded_line **order, struct weighed *w)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		order[i] = &l->lines[i];
	if (l->n)
		qsort_r(order, l->n, sizeof(*order), by_text, l);
	for (size_t i = 0; i < l->n; i++) {
		const struct folded_line *line = order[i];

		if (n && !by_text(&order[n - 1], &line, l)) {
			w[n - 1].ns += line->ns;
			if (w[n - 1].owner != line->owner)
				w[n - 1].owner = 0;
		} else {
			order[n] = line;
			w[n] = (struct weighed) { line->ns, 0, n, line->owner };
			n++;
		}
	}
	return n;
}

/* Widest first; among equals the order of the lines. */
static int by_width(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	return compare_numbers(a->line, b->line);
}

static int by_line(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	return compare_numbers(a->line, b->line);
}

/*
 * Rounds to microseconds by largest remainders: thousands of lines of some hundred nanoseconds
 * each would otherwise vanish together, or all count as one microsecond. Of lines with the same
 * remainder the first ones are rounded up.
 */
static void round_to_us(struct weighed *w, size_t n)
{
	size_t lines[NS_PER_US] = { 0 }; /* by remainder: how many; then how many to round up */
	uint64_t remainder = 0, up;

	for (size_t i = 0; i < n; i++) {
		lines[w[i].ns % NS_PER_US]++;
		remainder += w[i].ns % NS_PER_US;
	}
	up = (remainder + NS_PER_US / 2) / NS_PER_US;
	for (size_t r = NS_PER_US; r-- > 0; up -= lines[r])
		if (lines[r] > up)
			lines[r] = up;
	for (size_t i = 0; i < n; i++) {
		size_t *left = &lines[w[i].ns % NS_PER_US];

		w[i].weight = w[i].ns / NS_PER_US + (*left > 0);
		*left -= *left > 0;
	}
}

/* Keeps the `top` widest of n lines, and one more line, at the end, with the sum of the others. */
static size_t keep_top(struct weighed *w, size_t n, size_t top)
{
	uint64_t other = 0;

	qsort(w, n, sizeof(*w), by_width);
	for (size_t i = top; i < n; i++)
		other += w[i].ns;
	qsort(w, top, sizeof(*w), by_line);
	w[top] = (struct weighed) { other, 0, n, 0 };
	return top + 1;
}

/* Moves the last line, CHAIN_OTHER, to its place in the order of the texts. */
static void place_other(struct folded *l, const struct folded_line **order, struct weighed *w,
			size_t n)
{
	struct weighed other = w[n - 1];
	size_t i = n - 1;

	for (; i && by_text(&order[w[i - 1].line], &order[other.line], l) > 0; i--)
		w[i] = w[i - 1];
	w[i] = other;
}

static void put_line(const struct folded *l, const struct folded_line *line, uint64_t weight,
		     struct text_buf *to)
{
	struct reading r = reading_of(l, line);
	char number[32];
	int len = snprintf(number, sizeof(number), " %" PRIu64 "\n", weight);

	for (size_t skip = 1; next_part(&r); skip = 0) {
		text_put(to, r.p + skip, r.left - skip);
		r.left = 0;
	}
	text_put(to, number, (size_t)len);
}

/* ---- whose threads are whose ---------------------------------------------------------------- */

/* The first frame of a line with its ';'. */
static size_t head_len(const struct folded *l, const struct folded_line *line, const char **head)
{
	const struct folded_part *part = &l->of[l->parts[line->first]];
	const char *end;

	*head = l->texts.p + part->at;
	end = memchr(*head + 1, ';', part->len - 1);
	return end ? (size_t)(end - *head) : part->len;
}

static const char *owner_text(const struct folded *l, uint32_t owner)
{
	return owner ? l->texts.p + l->of[owner - 1].at : NULL;
}

/* Of n lines with one head and several owners. */
static void split_head(struct process_lines *p, const struct folded *l,
		       const struct folded_line *const *order, const struct weighed *w, size_t n)
{
	struct owned_line *lines = xmalloc(n * sizeof(*lines));

	for (size_t i = 0; i < n; i++) {
		struct reading r = reading_of(l, order[i]);
		struct text_buf text = { 0 };

		for (; next_part(&r); r.left = 0)
			text_put(&text, r.p, r.left);
		lines[i] = (struct owned_line) { text.p, owner_text(l, w[i].owner) };
	}
	process_lines_split(p, lines, n);
	for (size_t i = 0; i < n; i++)
		free(lines[i].text);
	free(lines);
}

/* Of all lines, which are in order and merged. */
static void note_processes(struct folded *l, const struct folded_line *const *order,
			   const struct weighed *w, size_t n)
{
	struct process_lines p = { .n = 0 };

	for (size_t i = 0, end; i < n; i = end) {
		const char *head, *next;
		size_t len = head_len(l, order[i], &head);
		bool one = true, known = w[i].owner;

		for (end = i + 1;
		     end < n && head_len(l, order[end], &next) == len && !memcmp(head, next, len);
		     end++) {
			one &= w[end].owner == w[i].owner;
			known |= w[end].owner > 0;
		}
		if (known && one)
			process_lines_add(&p, owner_text(l, w[i].owner), head, len);
		else if (known)
			split_head(&p, l, order + i, w + i, end - i);
	}
	process_lines_put(&l->notes, &p);
}

void folded_note(struct folded *l, const char *text)
{
	struct text_buf line = { 0 };

	text_puts(&line, "[note] ");
	names_put(&line, text);
	text_puts(&line, " 0\n");
	if (!(l->notes.p && strstr(l->notes.p, line.p)))
		text_put(&l->notes, line.p, line.len);
	text_free(&line);
}

static void write_out(struct text_buf *b, FILE *out)
{
	fwrite(b->p ? b->p : "", 1, b->len, out);
	b->len = 0;
}

/* Of so many bytes a stream is told at once. */
#define AT_ONCE 65536u

/* folded_write(), by way of `to`; out NULL: to `to` alone. */
static void put_lines(struct folded *l, const struct options *o, struct text_buf *to, FILE *out)
{
	const struct folded_line **order = xmalloc((l->n + 1) * sizeof(*order));
	struct weighed *w = xmalloc((l->n + 1) * sizeof(*w));
	bool top;
	size_t n;

	if (l->sampled)
		share_time(l);
	n = merge_lines(l, order, w);
	if (l->owned)
		note_processes(l, order, w, n);
	top = o->top && o->top < n;
	if (top) {
		order[n] = NULL;
		n = keep_top(w, n, (size_t)o->top);
	}
	if (o->unit == UNIT_US)
		round_to_us(w, n);
	else
		for (size_t i = 0; i < n; i++)
			w[i].weight = w[i].ns;
	if (top)
		place_other(l, order, w, n);
	for (size_t i = 0; i < n; i++) {
		if (w[i].weight)
			put_line(l, order[w[i].line], w[i].weight, to);
		if (out && to->len >= AT_ONCE)
			write_out(to, out);
	}
	text_put(to, l->notes.p, l->notes.len);
	free(order);
	free(w);
}

void folded_write(struct folded *l, const struct options *o, FILE *out)
{
	struct text_buf b = { 0 };

	put_lines(l, o, &b, out);
	write_out(&b, out);
	text_free(&b);
}

static void put_rows(struct text_buf *to, struct chain_rows *rows, const struct options *o)
{
	struct folded l = { .n = 0 };

	folded_add(&l, rows, NULL, o->root);
	put_lines(&l, o, to, NULL);
	folded_free(&l);
}

void fold_put(struct text_buf *to, struct fold *f, const struct options *o)
{
	put_rows(to, fold_rows(f), o);
}

void fold_put_span(struct text_buf *to, struct fold *f, size_t span, const struct options *o)
{
	struct chain_rows rows = fold_span_rows(f, span);

	put_rows(to, &rows, o);
}
