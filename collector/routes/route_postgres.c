// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages of PostgreSQL: its manual, "Frontend/Backend Protocol". A request is one message or
 * more: a letter, a length in 4 bytes that counts itself, and what it says. What begins a
 * connection has no letter.
 */
#include "route_parsers.h"
#include "route_writer.h"

#define STARTUP_VERSION 0x30000 /* 3.0 */
#define CODE_CANCEL 80877102
#define CODE_TLS 80877103
#define CODE_GSS 80877104

#define LENGTH_BYTES 4

/* FNV-1a (Fowler, Noll, Vo): names of statements are told apart by it. */
static uint64_t hash_name(struct bytes name)
{
	uint64_t h = 14695981039346656037ull;

	while (name.at < name.end)
		h = (h ^ *name.at++) * 1099511628211ull;
	return h;
}

static bool has_text(struct bytes b, const char *text)
{
	size_t n = strlen(text);

	for (; left(&b) >= n; b.at++)
		if (!memcmp(b.at, text, n))
			return true;
	return false;
}

/* What begins a connection. */
static bool parse_start(struct route *r, struct bytes b, uint64_t bytes_read)
{
	struct route_writer w = route_begin(r, ROUTE_POSTGRES, false);
	uint64_t length, code;

	if (!take_big_endian(&b, 4, &length) || length != bytes_read ||
	    !take_big_endian(&b, 4, &code))
		return false;
	if (code == CODE_CANCEL && length == 16) {
		route_put_text(&w, "[cancel]");
		return true;
	}
	route_put_text(&w, "[startup]");
	if ((code == CODE_TLS || code == CODE_GSS) && length == 8)
		return true;
	return code == STARTUP_VERSION && has_text(b, "user");
}

/* A message. */
struct message {
	uint64_t letter, length; /* without the letter */
	struct bytes body;	 /* as far as it was read */
};

static bool take_message(struct bytes *b, struct message *m)
{
	if (!take_big_endian(b, 1, &m->letter) || !take_big_endian(b, LENGTH_BYTES, &m->length) ||
	    m->length < LENGTH_BYTES)
		return false;
	m->body = (struct bytes) { b->at, b->end };
	if (left(&m->body) > m->length - LENGTH_BYTES)
		m->body.end = m->body.at + (m->length - LENGTH_BYTES);
	b->at = m->body.end;
	return true;
}

/* Whether the message says what the request is; then the route is put. */
static bool put_message(struct route_writer *w, struct message *m, bool is_cut)
{
	struct route *r = w->route;
	struct bytes name;

	switch (m->letter) {
	case 'P': /* Parse: a name, and the statement */
		if (!take_until(&m->body, '\0', &name))
			return false;
		r->use = ROUTE_PREPARES;
		r->statement = hash_name(name);
		r->is_weak = !route_put_sql(w, m->body, is_cut);
		return !r->is_weak;
	case 'Q':
		r->is_weak = !route_put_sql(w, m->body, is_cut);
		return !r->is_weak;
	case 'B': /* Bind: of a portal, and of the statement that it executes */
		if (!take_until(&m->body, '\0', &name) || !take_until(&m->body, '\0', &name))
			return false;
		r->use = ROUTE_EXECUTES;
		r->statement = hash_name(name);
		route_put_text(w, "EXECUTE");
		return true;
	case 'F':
		route_put_text(w, "FUNCTION");
		return true;
	case 'p':
		route_put_text(w, "[login]");
		return true;
	default:
		return false;
	}
}

bool route_parse_postgres(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w;
	bool is_put = false;
	struct message m;
	uint64_t sum = 0;

	if (parse_start(r, b, request->bytes_read))
		return true;
	w = route_begin(r, ROUTE_POSTGRES, true);
	while (left(&b) > 0) {
		if (is_cut(request) && left(&b) <= LENGTH_BYTES)
			return is_put;
		if (!take_message(&b, &m) || !is_one_of((uint8_t)m.letter, "BCDEFHPQSXcdfp"))
			return false;
		sum += 1 + m.length;
		if (sum > request->bytes_read)
			return false;
		is_put = is_put || put_message(&w, &m, sum > request->n);
	}
	/* What was not read whole goes on beyond these bytes, which are all that there are else. */
	return is_cut(request) ? sum >= request->n : sum == request->bytes_read;
}
