// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any requests, and headers of streams, of any connections, in any order, as the table
 * of routes gets them. An input is these one after the other: 3 bytes, which endpoint, connection,
 * request, and how many bytes follow.
 */
#include "collector.h"

#include "routes/route_table.h"

#define IDS (1u << 16)
/* Requests of an input: more take long, as it may tell all routes after each. */
#define REQUESTS 20000u

struct told {
	uint32_t n;
	uint8_t times[IDS]; /* that an id was told */
};

static uint32_t reserve(void *ctx)
{
	struct told *t = ctx;

	return t->n + 1 < IDS ? ++t->n : 0;
}

/* Told once, and without what a stranger may write. */
static int define(void *ctx, uint32_t id, enum route_protocol protocol, const char *text)
{
	struct told *t = ctx;

	must(id && id <= t->n && !t->times[id]++);
	must(*text && strlen(text) < ROUTE_NAME_MAX);
	must(protocol && protocol < ROUTE_PROTOCOLS);
	for (const char *c = text; *c; c++)
		must((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		     (*c >= '0' && *c <= '9') || strchr(" /*._-~:+[]", *c));
	return 0;
}

/* An id without a definition: nothing else is kept for later. */
static void not_defined_yet(void *ctx, uint32_t id)
{
	struct told *t = ctx;

	must(id && id <= t->n && !t->times[id]);
}

static void none_left(void *ctx, uint32_t id)
{
	(void)ctx;
	must(!id);
}

/* Headers of a stream; without bytes, the stream's request. */
static void ask_stream(struct told *t, struct route_table *table, const uint8_t *p, size_t n,
		       struct route_asked *asked)
{
	struct http2_headers headers = { p + 1, n - 1, .flags = n ? p[0] : 0, .is_cut = n == 255 };

	asked->is_stream = true;
	asked->request = NULL;
	asked->r = NULL;
	if (n)
		route_table_headers(table, asked->connection, asked->nth, &headers);
	else
		must(route_table_id(table, asked) <= t->n);
}

/* Bytes of the request at *data, which goes on to the next one. */
static void ask(struct told *t, struct route_table *table, const uint8_t **data, const uint8_t *end)
{
	const uint8_t *p = *data + 3;
	size_t n = (*data)[2];
	bool is_stream;
	struct route r;
	struct route_request request;
	struct route_asked asked = {
		.endpoint = 1 + ((*data)[0] & 7),
		.connection = (*data)[0] >> 3,
		.is_old = (*data)[1] & 1,
		.nth = (*data)[1] >> 2,
		.request = &request,
		.r = (*data)[1] & 2 ? NULL : &r,
	};

	if (n > (size_t)(end - p))
		n = (size_t)(end - p);
	is_stream = ((*data)[1] & 3) == 3;
	*data = p + n;
	if (is_stream) {
		ask_stream(t, table, p, n, &asked);
		return;
	}
	request = (struct route_request) { p, n, n };
	route_parse(&r, &request);
	must(route_table_id(table, &asked) <= t->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct told t;
	const uint8_t *end = data + size;
	struct route_table *table;

	memset(&t, 0, sizeof(t));
	must(!route_table_new(&table, &(struct route_store) { reserve, define, &t }));
	for (uint32_t i = 0; i < REQUESTS && end - data >= 3; i++) {
		bool tell = data[0] == 0xff && !(data[1] & 0xf0);

		ask(&t, table, &data, end);
		if (tell)
			must(!route_table_settle(table));
	}
	route_table_each(table, not_defined_yet, &t);
	must(!route_table_settle(table));
	route_table_each(table, none_left, &t);
	route_table_free(table);
	return 0;
}
