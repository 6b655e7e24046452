/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_words.h - what is said of a request (timeline/requests.h) in formats for other programs.
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"

/* The marks that a request may have (chain-semantics, section 15); the last entry has no name. */
extern const struct request_mark {
	unsigned int flag; /* enum request_flags */
	const char *name;
} request_marks[];

#define TRACE_ID_SIZE 33
#define SPAN_ID_SIZE 17

/* As OpenTelemetry writes them: 32 and 16 hexadecimal digits; "" if there is none. c may be NULL.
 */
const char *trace_id_text(char text[TRACE_ID_SIZE], const struct context *c);
const char *span_id_text(char text[SPAN_ID_SIZE], const struct context *c);
/* The names of the request's endpoint, of its route, and what the program calls it; "": none. */
const char *request_endpoint_name(const struct timelines *tl, const struct request *q);
/*
 * Whether text is how an endpoint is written: its name, for the first requests of connections with
 * or without "first", and behind that the process, "nginx", with "/900" or "x 3", which of them are
 * meant: "tcp :80 /cart nginx/900".
 */
bool request_endpoint_is_called(const struct timelines *tl, const struct request_endpoint *e,
				const char *text);
/* Whether the i-th text of the list is that, or a regular expression that fits the endpoint's name,
 * with its route or without, or that of its process. */
bool request_endpoint_fits(const struct timelines *tl, const struct request_endpoint *e,
			   const struct regex_list *l, size_t i);
const char *request_route(const struct timelines *tl, const struct request *q);
/* The protocol of a route, an object of the trace: "HTTP"; "": not known. */
const char *route_protocol(const struct timelines *tl, uint32_t route);
/* Whether a route says what was asked for: not if all words of its path are stars, nor "[TLS]". */
bool route_says_what(const char *route);
const char *request_label(const struct timelines *tl, const struct request *q);
