// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of HTTP/1 (RFC 9112, section 3) and FastCGI ("FastCGI Specification", version 1.0,
 * sections 3.3 to 5.2). What is asked for within TLS (RFC 8446, section 5.1) is not seen, only that
 * it is TLS.
 */
#include <linux/types.h>

#include "chainwire_requests.h"
#include "route_parsers.h"
#include "route_writer.h"

/* RFC 9110, section 9; RFC 5789; RFC 4918, section 9; what caches and subversion know besides. */
static const char *const methods[] = {
	"GET",	   "HEAD",   "POST",   "PUT",	   "DELETE",	"PATCH",  "OPTIONS",
	"CONNECT", "TRACE",  "COPY",   "MOVE",	   "LOCK",	"UNLOCK", "MKCOL",
	"PURGE",   "REPORT", "SEARCH", "PROPFIND", "PROPPATCH",
};

const char *route_http_method(struct bytes method)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (left(&method) == strlen(methods[i]) &&
		    !memcmp(method.at, methods[i], left(&method)))
			return methods[i];
	return NULL;
}

static bool has_control_character(struct bytes b)
{
	while (b.at < b.end)
		if (*b.at++ < ' ')
			return true;
	return false;
}

/* Leaves the scheme and the host out, which requests to a proxy have. */
static void skip_authority(struct bytes *target)
{
	struct bytes host;

	if ((take_text(target, "http://") || take_text(target, "https://")) &&
	    take_until(target, '/', &host))
		target->at--;
}

/* is_cut: the end of the target is missing, so that what comes last may be a part of a word. */
static void put_target(struct route_writer *w, const char *method, struct bytes target, bool is_cut)
{
	struct bytes path;

	skip_authority(&target);
	route_put_text(w, method);
	if (peek(&target) != '/')
		return; /* a host, of CONNECT; or OPTIONS * */
	route_put(w, ' ');
	is_cut = is_cut && !take_until(&(struct bytes) { target.at, target.end }, '?', &path);
	while (is_cut && target.end[-1] != '/')
		target.end--;
	route_put_path(w, target);
	if (is_cut)
		route_put(w, '*');
}

/* The first line without its method: "/path HTTP/1.1", or the beginning of a long one. */
static bool take_target(struct bytes *b, const struct route_request *request, struct bytes *target)
{
	if (take_until(b, ' ', target))
		return take_text(b, "HTTP/1.");
	*target = *b;
	return is_cut(request);
}

bool route_parse_http(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request), method, target;
	struct route_writer w = route_begin(r, ROUTE_HTTP, false);
	const char *name;

	if (!take_until(&b, ' ', &method))
		return false;
	name = route_http_method(method);
	if (!name || !take_target(&b, request, &target) || has_control_character(target))
		return false;
	put_target(&w, name, target, target.end == b.end);
	return left(&target) > 0;
}

#define TLS_CHANGE_CIPHER 20
#define TLS_HANDSHAKE 22
#define TLS_APPLICATION_DATA 23
#define TLS_CLIENT_HELLO 1
#define TLS_RECORD_MAX ((1 << 14) + 256)

/* A record's kind, version and length. Only what begins a connection has more that tells it. */
bool route_parse_tls(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w = route_begin(r, ROUTE_TLS, true);
	uint64_t kind, major, minor, length;

	if (take_text(&b, WIRE_ENCIPHERED) && !left(&b)) {
		route_put_text(&w, "[TLS]");
		return true;
	}
	b = all_of(request);
	if (!take_big_endian(&b, 1, &kind) || kind < TLS_CHANGE_CIPHER ||
	    kind > TLS_APPLICATION_DATA || !take_big_endian(&b, 1, &major) || major != 3 ||
	    !take_big_endian(&b, 1, &minor) || minor > 4 || !take_big_endian(&b, 2, &length) ||
	    !length || length > TLS_RECORD_MAX)
		return false;
	route_put_text(&w, kind == TLS_HANDSHAKE ? "[TLS handshake]" : "[TLS]");
	if (kind == TLS_HANDSHAKE && peek(&b) == TLS_CLIENT_HELLO && length > 4) {
		b.at++;
		r->is_weak = !take_big_endian(&b, 3, &kind) || kind + 4 != length;
	}
	return true;
}

/* ---- FastCGI -------------------------------------------------------------------------------- */

#define FCGI_HEADER 8
#define FCGI_BEGIN_REQUEST 1
#define FCGI_PARAMS 4
#define FCGI_ROLES 3

/* A record's header. */
struct fcgi_record {
	uint64_t version, type, id, content, padding, reserved;
};

static bool take_record(struct bytes *b, struct fcgi_record *r)
{
	return take_big_endian(b, 1, &r->version) && take_big_endian(b, 1, &r->type) &&
	       take_big_endian(b, 2, &r->id) && take_big_endian(b, 2, &r->content) &&
	       take_big_endian(b, 1, &r->padding) && take_big_endian(b, 1, &r->reserved) &&
	       r->version == 1;
}

/* The length of a name or a value: 1 byte, or 4 with the highest bit set. */
static bool take_length(struct bytes *b, uint64_t *length)
{
	if (!(peek(b) & 0x80))
		return take_big_endian(b, 1, length);
	if (!take_big_endian(b, 4, length))
		return false;
	*length &= 0x7fffffff;
	return true;
}

static bool is_text(struct bytes b, const char *text)
{
	return left(&b) == strlen(text) && !memcmp(b.at, text, left(&b));
}

/* What of the parameters makes the route. */
struct fcgi_names {
	struct bytes method, uri, script;
	bool is_cut; /* the last one of these */
};

/* Takes a name and its value, of which the end may be missing. */
static bool take_parameter(struct bytes *b, struct fcgi_names *names)
{
	struct bytes name, value;
	uint64_t name_len, value_len;

	if (!take_length(b, &name_len) || !take_length(b, &value_len) || left(b) < name_len)
		return false;
	name = (struct bytes) { b->at, b->at + name_len };
	b->at = name.end;
	names->is_cut = left(b) < value_len;
	value = (struct bytes) { b->at, names->is_cut ? b->end : b->at + value_len };
	b->at = value.end;
	if (is_text(name, "REQUEST_METHOD"))
		names->method = value;
	else if (is_text(name, "REQUEST_URI"))
		names->uri = value;
	else if (is_text(name, "SCRIPT_NAME"))
		names->script = value;
	return true;
}

bool route_parse_fastcgi(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w = route_begin(r, ROUTE_FASTCGI, false);
	struct fcgi_names names = { 0 };
	struct fcgi_record record;
	struct bytes target;
	const char *method;
	uint64_t role;

	if (!take_record(&b, &record) || record.type != FCGI_BEGIN_REQUEST || record.content != 8 ||
	    !take_big_endian(&b, 2, &role) || role < 1 || role > FCGI_ROLES)
		return false;
	b.at = left(&b) < 6 ? b.end : b.at + 6;
	if (!take_record(&b, &record) || record.type != FCGI_PARAMS)
		return true; /* without a route, as it has not been read as yet */
	if (left(&b) > record.content)
		b.end = b.at + record.content;
	while (take_parameter(&b, &names))
		;
	method = route_http_method(names.method);
	target = left(&names.uri) ? names.uri : names.script;
	if (method)
		put_target(&w, method, target, names.is_cut && target.end == b.end);
	return true;
}
