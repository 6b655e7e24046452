/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_requests.h - what the table of requests and the first screen have in common. */
#pragma once

#include "format.h"
#include "select/endpoint_requests.h"

/*
 * "tcp :80 nginx/900": the process by its name and id, as far as they are known; of several "nginx
 * x 4".
 */
void request_endpoint_put(struct text_buf *b, const struct format_input *in,
			  const struct endpoint_requests *e);
/* The same without the route, and the route, "": none. */
void request_service_put(struct text_buf *b, struct text_buf *route, const struct format_input *in,
			 const struct endpoint_requests *e);
/* Of the time that is looked at, how many a second: "217.3", to be freed. */
char *request_rate(const struct format_input *in, const struct wait_filter *f, uint64_t n);
/* Says how many requests the recorder left out, if any. */
void request_put_left_out(FILE *out, const struct format_input *in);
/* Writes a command that shows a request. */
void request_put_example(FILE *out, const struct format_input *in, const struct chosen_wait *p);
