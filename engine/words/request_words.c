// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct request_mark request_marks[] = {
	{ REQUEST_FIRST, "first" },
	{ REQUEST_PIPELINED, "pipelined" },
	{ REQUEST_OLD, "old" },
	{ REQUEST_UNSENT, "unsent" },
	{ REQUEST_PROBED, "probed" },
	{ REQUEST_NO_ARRIVAL, "no_arrival" },
	{ REQUEST_STREAM, "stream" },
	{ REQUEST_SEVERAL, "several" },
	{ 0, NULL },
};

const char *trace_id_text(char text[TRACE_ID_SIZE], const struct context *c)
{
	*text = '\0';
	if (c && c->trace[0] | c->trace[1])
		snprintf(text, TRACE_ID_SIZE, "%016" PRIx64 "%016" PRIx64, c->trace[0],
			 c->trace[1]);
	return text;
}

const char *span_id_text(char text[SPAN_ID_SIZE], const struct context *c)
{
	*text = '\0';
	if (c && c->span)
		snprintf(text, SPAN_ID_SIZE, "%016" PRIx64, c->span);
	return text;
}

static const char *name_of(const struct timelines *tl, uint32_t object)
{
	const struct trace *t = timelines_trace(tl);
	const struct trace_object *o = trace_object(t, object);

	return o ? trace_string(t, o->name) : "";
}

const char *request_endpoint_name(const struct timelines *tl, const struct request *q)
{
	uint32_t n;

	return trace_string(timelines_trace(tl), timelines_endpoints(tl, &n)[q->endpoint].name);
}

const char *request_route(const struct timelines *tl, const struct request *q)
{
	return name_of(tl, q->route);
}

const char *route_protocol(const struct timelines *tl, uint32_t route)
{
	const struct trace *t = timelines_trace(tl);
	const struct trace_object *o = trace_object(t, route);

	return o ? trace_string(t, o->protocol) : "";
}

const char *request_label(const struct timelines *tl, const struct request *q)
{
	return name_of(tl, q->label);
}

/* What is behind a beginning; NULL: it has another one. */
static const char *behind(const char *text, const char *begin, size_t len)
{
	return text && !strncmp(text, begin, len) ? text + len : NULL;
}

bool request_endpoint_is_called(const struct timelines *tl, const struct request_endpoint *e,
				const char *text)
{
	const struct trace *t = timelines_trace(tl);
	const char *name = trace_string(t, e->name), *process = trace_string(t, e->process), *rest;
	size_t len = strlen(name), first = strlen(" first");
	char id[16] = "/";

	if (e->first && len > first && !behind(text, name, len))
		len -= first;
	rest = behind(text, name, len);
	if (!rest || !*rest)
		return rest;
	rest = behind(behind(rest, " ", 1), process, strlen(process));
	if (!rest || !*process)
		return false;
	if (!strncmp(rest, " x ", 3))
		return rest[3] && !rest[3 + strspn(rest + 3, "0123456789")];
	if (e->thread != THREAD_NONE)
		snprintf(id, sizeof(id), "/%" PRIu32, timelines_thread(tl, e->thread)->tgid);
	return !*rest || !strcmp(rest, id);
}

bool request_endpoint_fits(const struct timelines *tl, const struct request_endpoint *e,
			   const struct regex_list *l, size_t i)
{
	const struct trace *t = timelines_trace(tl);

	return regex_list_names(l, i, trace_string(t, e->name)) ||
	       regex_list_names(l, i, trace_string(t, e->service)) ||
	       regex_list_names(l, i, trace_string(t, e->process)) ||
	       request_endpoint_is_called(tl, e, l->text[i]);
}

bool route_says_what(const char *route)
{
	const char *path = strstr(route, " /");

	if (*route == '[') /* "[TLS]" */
		return false;
	for (path = path ? path : route; *path; path++)
		if (!strchr("/* ", *path))
			return true;
	return false;
}
