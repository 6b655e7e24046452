// SPDX-License-Identifier: GPL-2.0-or-later
#include "several.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "json.h"
#include "names.h"
#include "print.h"

struct several {
	const struct options *options;
	struct texts texts;
	uint64_t *ns; /* by text */
	size_t cap;
};

struct several *several_new(const struct options *o)
{
	struct several *s = calloc(1, sizeof(*s));

	if (s)
		s->options = o;
	return s;
}

void several_free(struct several *s)
{
	if (!s)
		return;
	texts_free(&s->texts);
	free(s->ns);
	free(s);
}

/* What the trace is called in the result. */
static const char *label(const struct format_input *in, const char *name)
{
	const char *host = trace_info(in->trace)->host;

	return in->options->root == ROOT_HOST && *host ? host : name;
}

static int add_line(struct several *s, const struct text_buf *line, uint64_t ns)
{
	uint32_t before = s->texts.n;
	uint32_t id = line->failed ? 0 : texts_id(&s->texts, line->p, line->len);
	uint64_t *p = id ? grow_array(s->ns, id, &s->cap, sizeof(*p)) : NULL;

	if (!p)
		return -ENOMEM;
	s->ns = p;
	if (id > before)
		p[id] = 0;
	p[id] += ns;
	return 0;
}

/* Takes folded lines with nanoseconds apart and adds them to those of other traces. */
static int add_lines(struct several *s, const char *text, const char *root)
{
	struct text_buf line = { .p = NULL };
	const char *nl, *weight;
	int err = 0;

	for (; !err && (nl = strchr(text, '\n')); text = nl + 1) {
		weight = memrchr(text, ' ', (size_t)(nl - text));
		if (!weight)
			continue;
		line.len = 0;
		if (root) {
			names_put(&line, root);
			text_puts(&line, ";");
		}
		text_put(&line, text, (size_t)(weight - text));
		err = add_line(s, &line, strtoull(weight + 1, NULL, 10));
	}
	text_free(&line);
	return err;
}

/* What the format writes, as a string to be freed; NULL and *err: out of memory, or its error. */
static char *written(const struct format_input *in, int *err)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		*err = -ENOMEM;
		return NULL;
	}
	*err = format_find(in->options->format)->write(in, f);
	if ((ferror(f) | fclose(f)) && !*err)
		*err = -ENOMEM;
	if (*err) {
		free(text);
		return NULL;
	}
	return text;
}

int several_add(struct several *s, const struct format_input *in, const char *name)
{
	/* All of it and exact: the sums of all traces are rounded and sorted in the end. */
	struct options exact = *in->options;
	struct format_input all = *in;
	char *text;
	int err;

	exact.unit = UNIT_NS;
	exact.top = 0;
	all.options = &exact;
	text = written(&all, &err);
	if (!err)
		err = add_lines(s, text, exact.root == ROOT_NONE ? NULL : label(in, name));
	free(text);
	return err;
}

static int by_text(const void *pa, const void *pb)
{
	const struct fold_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

int several_write(const struct several *s, FILE *out)
{
	size_t n = s->texts.n;
	struct fold_line *lines = malloc((n + 1) * sizeof(*lines));
	int err;

	if (!lines)
		return -ENOMEM;
	for (uint32_t id = 1; id <= n; id++)
		lines[id - 1] = (struct fold_line) { texts_get(&s->texts, id), s->ns[id] };
	qsort(lines, n, sizeof(*lines), by_text);
	err = fold_lines_write(lines, n, s->options, out);
	free(lines);
	return err;
}

/* JSON objects, one a line, each with the trace as its first member. */
static int write_keyed(const struct format_input *in, const char *name, FILE *out)
{
	struct text_buf key = { .p = NULL };
	char *text, *nl, *line;
	int err;

	text = written(in, &err);
	if (err)
		return err;
	json_string(&key, label(in, name));
	if (key.failed)
		err = -ENOMEM;
	for (line = text; !err && (nl = strchr(line, '\n')); line = nl + 1) {
		if (*line != '{')
			continue;
		fprintf(out, "{\"%s\":%s,", in->options->root == ROOT_HOST ? "host" : "trace",
			key.p);
		fwrite(line + 1, 1, (size_t)(nl - line), out);
	}
	text_free(&key);
	free(text);
	return err;
}

int several_part(const struct format_input *in, const char *name, bool first, FILE *out)
{
	const struct format *f = format_find(in->options->format);

	if (f->several == SEVERAL_KEYED)
		return write_keyed(in, name, out);
	fputs(first ? "==> " : "\n==> ", out);
	print_clean(out, name);
	fputs(" <==\n", out);
	return f->write(in, out);
}
