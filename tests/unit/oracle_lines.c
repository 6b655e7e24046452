// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "oracle_private.h"

void line_put(struct world *w, const char *chain, const char *end, uint64_t ns)
{
	if (!ns)
		return;
	w->lines = more(w->lines, w->n_lines, sizeof(*w->lines));
	w->ns = more(w->ns, w->n_lines, sizeof(*w->ns));
	w->bases = more(w->bases, w->n_lines, sizeof(*w->bases));
	if (asprintf(&w->lines[w->n_lines], "%s;[%s]", chain, end) < 0)
		abort();
	w->bases[w->n_lines] = NULL;
	w->ns[w->n_lines++] = ns;
}

void text_append(char **s, const char *raw)
{
	char *old = *s, *clean = strdup(*raw ? raw : "[unknown]");

	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
		else if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	if (asprintf(s, "%s%s%s", old, *old ? ";" : "", clean) < 0)
		abort();
	free(old);
	free(clean);
}

static bool is_code(struct world *w, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(w->t, frame);

	return f && f->space && f->addr & CHAINLOG_CODE_TAG;
}

/* "f (a.py:1)", with what is known of it. */
static const char *code_name(struct world *w, const struct trace_frame *f, char *buf, size_t size)
{
	const char *name = trace_string(w->t, f->symbol),
		   *path = trace_module_path(w->t, f->module);
	char line[24] = "";

	if (f->offset)
		snprintf(line, sizeof(line), ":%u", (unsigned int)f->offset);
	snprintf(buf, size, *path ? "%s (%s%s)" : "%s", *name ? name : "[interpreted code]",
		 strrchr(path, '/') ? strrchr(path, '/') + 1 : path, line);
	return buf;
}

const char *frame_name(struct world *w, uint32_t frame, char *buf, size_t size)
{
	const struct trace_frame *f = trace_frame(w->t, frame);
	const char *path = f && f->module ? trace_module_path(w->t, f->module) : "";
	const char *base = strrchr(path, '/');

	if (is_code(w, frame))
		return code_name(w, f, buf, size);
	if (f && *trace_string(w->t, f->symbol))
		return trace_string(w->t, f->symbol);
	if (!*path || (base && !base[1]))
		return "";
	snprintf(buf, size, "[%s]", base ? base + 1 : path);
	return buf;
}

/*
 * Whether a frame only says how an interpreter runs code: it follows a frame of code towards the
 * root, or the last one towards the leaf that does is of the same file.
 */
static bool runs_code(struct world *w, struct trace_stack st, uint32_t i)
{
	uint32_t k = i;

	if (is_code(w, st.frames[i]))
		return false;
	while (k && !(is_code(w, st.frames[k - 1]) && !is_code(w, st.frames[k])))
		k--;
	if (k && k != i) {
		const struct trace_frame *f = trace_frame(w->t, st.frames[i]);
		const struct trace_frame *e = trace_frame(w->t, st.frames[k]);

		return f && e && f->module && e->module &&
		       !strcmp(trace_module_path(w->t, f->module),
			       trace_module_path(w->t, e->module));
	}
	return k;
}

void text_append_frames(struct world *w, char **s, uint32_t id, uint32_t first_n, bool leaf_first)
{
	struct trace_stack st = trace_stack(w->t, id);
	uint32_t n = st.n < first_n ? st.n : first_n;
	char buf[300];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = leaf_first ? i : n - 1 - i;

		if (!runs_code(w, st, at))
			text_append(s, frame_name(w, st.frames[at], buf, sizeof(buf)));
	}
}

void text_append_class(struct world *w, char **s, const struct trace_object *o)
{
	char class[300];

	snprintf(class, sizeof(class), "[%s]", trace_string(w->t, o->class));
	text_append(s, class);
}

void text_append_name(struct world *w, char **s, int thread, uint64_t at)
{
	text_append(s, life_name(w, thread, at));
}

struct ready {
	struct world *w;
	const char *chain, *end;
};

static void put_ready_line(void *arg, const char *who, uint64_t ns)
{
	const struct ready *r = arg;
	struct world *w = r->w;
	char *line;

	line_put(w, r->chain, r->end, ns);
	if (!who || !ns)
		return;
	line = w->lines[w->n_lines - 1];
	text_append(&line, who);
	w->lines[w->n_lines - 1] = line;
}

void line_put_ready(struct world *w, const char *chain, const char *end, int life,
		    const struct piece *p, uint64_t from, uint64_t to)
{
	struct ready r = { w, chain, end };

	if (w->who_ran)
		who_ran(w, life, p, from, to, put_ready_line, &r);
	else
		line_put(w, chain, end, to - from);
}

void line_put_spots(struct world *w, const char *chain, const char *end, const struct life *l,
		    uint64_t from, uint64_t to)
{
	for (int i = 0; i < l->n_spots; i++) {
		const struct spot *s = &l->spots[i];
		bool kernel = trace_stack(w->t, s->kstack).n, user = trace_stack(w->t, s->ustack).n;
		char *line;

		if (s->at < from || s->at >= to)
			continue;
		if (asprintf(&line, "%s;[%s]", chain, end) < 0)
			abort();
		w->lines = more(w->lines, w->n_lines, sizeof(*w->lines));
		w->ns = more(w->ns, w->n_lines, sizeof(*w->ns));
		w->bases = more(w->bases, w->n_lines, sizeof(*w->bases));
		w->bases[w->n_lines] = strdup(line);
		if (!kernel && !user)
			text_append(&line, "[unknown stack]");
		text_append_frames(w, &line, s->ustack, UINT32_MAX, false);
		if (kernel && user)
			text_append(&line, "-");
		text_append_frames(w, &line, s->kstack, UINT32_MAX, false);
		w->lines[w->n_lines] = line;
		w->ns[w->n_lines++] = 0;
	}
}

/* ---- summing up ----------------------------------------------------------------------------- */

static struct world *sorting;

static int by_line(const void *a, const void *b)
{
	return strcmp(sorting->lines[*(const size_t *)a], sorting->lines[*(const size_t *)b]);
}

/*
 * The time of each line that has samples goes to these: what divides evenly to each, and the rest
 * by ones, to the samples' line with the largest part left over.
 */
static void share_out(struct world *w, const size_t *order, const char *base)
{
	uint64_t total = 0, all = 0, given = 0;

	for (size_t i = 0; i < w->n_lines; i++) {
		if (!w->bases[i] && !strcmp(w->lines[i], base)) {
			total += w->ns[i];
			w->ns[i] = 0;
		}
		all += w->bases[i] && !strcmp(w->bases[i], base);
	}
	for (int round = 0; round < 2 && all; round++) {
		uint64_t best = 0;

		do {
			size_t to = SIZE_MAX;

			best = 0;
			for (size_t i = 0, j; i < w->n_lines; i = j) {
				const char *line = w->lines[order[i]];
				uint64_t n = 0, ns = 0, fair;
				size_t first = SIZE_MAX;

				for (j = i; j < w->n_lines && !strcmp(line, w->lines[order[j]]);
				     j++)
					if (w->bases[order[j]] &&
					    !strcmp(w->bases[order[j]], base)) {
						first = first == SIZE_MAX ? order[j] : first;
						ns += w->ns[order[j]];
						n++;
					}
				if (!n)
					continue;
				fair = (uint64_t)((unsigned __int128)total * n / all);
				if (!round) {
					w->ns[first] = fair;
					given += fair;
				} else if (ns == fair) {
					uint64_t rest =
						(uint64_t)((unsigned __int128)total * n % all);

					if (rest > best) {
						best = rest;
						to = first;
					}
				}
			}
			if (round && to != SIZE_MAX && given < total) {
				w->ns[to]++;
				given++;
			}
		} while (round && best && given < total);
	}
}

static void share_out_all(struct world *w, const size_t *order)
{
	for (size_t i = 0; i < w->n_lines; i++) {
		bool done = !w->bases[i];

		for (size_t k = 0; k < i && !done; k++)
			done = w->bases[k] && !strcmp(w->bases[k], w->bases[i]);
		if (!done)
			share_out(w, order, w->bases[i]);
	}
}

char *oracle_sum_up(struct world *w)
{
	size_t *order = malloc((w->n_lines + 1) * sizeof(*order)), len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < w->n_lines; i++)
		order[i] = i;
	sorting = w;
	qsort(order, w->n_lines, sizeof(*order), by_line);
	share_out_all(w, order);
	for (size_t i = 0, j; i < w->n_lines; i = j) {
		uint64_t ns = 0;

		for (j = i; j < w->n_lines && !strcmp(w->lines[order[i]], w->lines[order[j]]); j++)
			ns += w->ns[order[j]];
		if (!ns)
			continue;
		fprintf(out, "%s %llu\n", w->lines[order[i]], (unsigned long long)ns);
	}
	fclose(out);
	free(order);
	return text;
}
