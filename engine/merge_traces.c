// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge_traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The name of the trace in the output. */
static const char *label(const struct format_input *in, const char *name)
{
	const char *host = trace_info(in->trace)->host;

	return in->options->root == ROOT_HOST && *host ? host : name;
}

/* The output of the format, as a string to be freed; NULL: *err says why. */
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

int merge_trace(struct folded *lines, const struct format_input *in, const char *name)
{
	bool labelled = in->options->root == ROOT_HOST || in->options->root == ROOT_TRACE;
	const char *root = labelled ? label(in, name) : NULL;

	return format_find(in->options->format)->fold(in, root, lines);
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

int write_trace_part(const struct format_input *in, const char *name, bool first, FILE *out)
{
	const struct format *f = format_find(in->options->format);

	if (f->several == SEVERAL_KEYED)
		return write_keyed(in, name, out);
	fputs(first ? "==> " : "\n==> ", out);
	print_clean(out, name);
	fputs(" <==\n", out);
	return f->write(in, out);
}
