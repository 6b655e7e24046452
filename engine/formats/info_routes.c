// SPDX-License-Identifier: GPL-2.0-or-later
#include "info_routes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/xalloc.h"

/* An object that is a route, and what asked for it. */
struct named {
	const char *protocol, *name;
	uint64_t requests;
};

/* Of the routes of one protocol. */
struct sums {
	uint64_t routes, requests;
};

void info_routes_event(struct info_routes *r, const struct trace *t, const struct event *ev)
{
	if ((ev->kind != EVENT_REQUEST && ev->kind != EVENT_REQUEST_OPEN) ||
	    ev->request.flags & CHAINLOG_REQUEST_PROBED)
		return;
	r->all++;
	if (!ev->request.label || ev->request.label >= trace_objects_end(t))
		return;
	if (!r->requests)
		r->requests = xcalloc(trace_objects_end(t), sizeof(*r->requests));
	r->requests[ev->request.label]++;
}

void info_routes_free(struct info_routes *r)
{
	free(r->requests);
}

static int by_name(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int order = strcmp(a->protocol, b->protocol);

	return order ? order : strcmp(a->name, b->name);
}

/* Those that say what was asked for, or only why that is not told: "[other]". */
static bool is_told(const char *name)
{
	size_t len = strlen(name);

	return *name != '[' && (!len || name[len - 1] != ']');
}

/* All that are asked for, each name of a protocol once. To be freed. */
static struct named *name_all(const struct info_routes *r, const struct trace *t, size_t *n)
{
	uint32_t end = r->requests ? trace_objects_end(t) : 0;
	struct named *all = xmalloc((end + 1) * sizeof(*all));
	size_t kept = 0;

	*n = 0;
	for (uint32_t id = 1; id < end; id++) {
		const struct trace_object *o = r->requests[id] ? trace_object(t, id) : NULL;

		if (o && !strcmp(trace_string(t, o->class), CHAINLOG_CLASS_ROUTE))
			all[(*n)++] = (struct named) { trace_string(t, o->protocol),
						       trace_string(t, o->name), r->requests[id] };
	}
	qsort(all, *n, sizeof(*all), by_name);
	for (size_t i = 0; i < *n; i++) {
		if (kept && !by_name(&all[kept - 1], &all[i]))
			all[kept - 1].requests += all[i].requests;
		else
			all[kept++] = all[i];
	}
	*n = kept;
	return all;
}

static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s: ", key);
	print_clean(out, *text ? text : "[unknown]");
}

static void put_protocol(FILE *out, const char *name, const struct sums *s)
{
	put_text(out, "protocol", name);
	fprintf(out, ": %" PRIu64 " routes, %" PRIu64 " requests\n", s->routes, s->requests);
}

void info_routes_write(const struct info_routes *r, const struct trace *t, FILE *out)
{
	struct sums told = { 0 }, same = { 0 };
	uint64_t named = 0;
	size_t n;
	struct named *all;

	if (!r->all)
		return;
	all = name_all(r, t, &n);
	for (size_t i = 0; i < n; i++) {
		named += all[i].requests;
		told.routes += is_told(all[i].name);
		told.requests += is_told(all[i].name) ? all[i].requests : 0;
	}
	fprintf(out, "# routes\nroutes: %" PRIu64 "\n", told.routes);
	fprintf(out, "requests_with_route: %" PRIu64 " (%.1f %%)\n", told.requests,
		100.0 * (double)told.requests / (double)r->all);
	fprintf(out, "requests_of_no_protocol: %" PRIu64 "\n", r->all - named);
	for (size_t i = 0; i < n; i++) {
		same.routes += is_told(all[i].name);
		same.requests += all[i].requests;
		if (i + 1 < n && !strcmp(all[i].protocol, all[i + 1].protocol))
			continue;
		put_protocol(out, all[i].protocol, &same);
		same = (struct sums) { 0 };
	}
	for (size_t i = 0; i < n; i++) {
		if (is_told(all[i].name))
			continue;
		put_text(out, "not_told", all[i].name);
		fprintf(out, ": %" PRIu64 " requests\n", all[i].requests);
	}
	free(all);
}
