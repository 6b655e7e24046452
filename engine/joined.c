// SPDX-License-Identifier: GPL-2.0-or-later
#include "joined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether chains can go on at another machine in what is shown. */
static bool may_join(char *const *paths, size_t n, const struct options *o,
		     const struct format *format)
{
	if (n < 2 || n > HOSTS_MAX || !format->joins || o->view != VIEW_CHAIN ||
	    o->mode != MODE_EXACT || o->plain_ends || o->no_ends)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(paths[i], "-"))
			return false;
	return true;
}

static bool has_streams(const struct opened *t)
{
	return t->is_open && trace_info(t->rec.trace)->aux & 1u << CHAINLOG_STREAM;
}

/* Whether any two traces have both ends of a connection. */
static int share(const struct joined *j, bool *is_shared)
{
	const struct trace *traces[HOSTS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n; i++)
		if (has_streams(&j->traces[i]))
			traces[n++] = j->traces[i].rec.trace;
	*is_shared = false;
	return n < 2 ? 0 : hosts_share(traces, n, is_shared);
}

/* The name of a machine, or of its trace, if another one has the same name, or it has none. */
static const char *name_of(const struct joined *j, uint32_t i, const char *path)
{
	const char *host = trace_info(j->traces[i].rec.trace)->host;

	for (uint32_t k = 0; k < j->n; k++)
		if (k != i && j->traces[k].is_open &&
		    !strcmp(host, trace_info(j->traces[k].rec.trace)->host))
			return path;
	return *host ? host : path;
}

static int join(struct joined *j, char *const *paths, const struct options *o,
		const struct format *format, struct symbols **symbols)
{
	struct timelines *timelines[HOSTS_MAX] = { NULL };
	int err = 0;

	j->hosts = calloc(j->n, sizeof(*j->hosts));
	if (!j->hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->n && !err; i++) {
		if (!j->traces[i].is_open)
			continue;
		err = opened_link(&j->traces[i], o, format, symbols);
		timelines[i] = j->traces[i].timelines;
		j->hosts[i] = (struct joined_host) { timelines[i], name_of(j, i, paths[i]) };
	}
	return err ? err : hosts_join(timelines, j->n, &j->pairs, &j->n_pairs);
}

int joined_open(struct joined *j, char *const *paths, size_t n, const struct options *o,
		const struct format *format, struct symbols **symbols)
{
	bool is_shared;
	int err;

	if (!may_join(paths, n, o, format))
		return 0;
	j->traces = calloc(n, sizeof(*j->traces));
	if (!j->traces)
		return -ENOMEM;
	j->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		if (opened_open(&j->traces[i], paths[i], format, o))
			return 0; /* it is opened again, and said what is wrong */
	err = share(j, &is_shared);
	return err || !is_shared ? err : join(j, paths, o, format, symbols);
}

void joined_close(struct joined *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		opened_close(&j->traces[i]);
	free(j->traces);
	free(j->hosts);
	free(j->pairs);
	*j = (struct joined) { .n = 0 };
}
