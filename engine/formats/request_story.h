/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_story.h - one request in the order of time, as the thread that answered saw it. */
#pragma once

#include "attribute/waker_name.h"
#include "format.h"
#include "select/endpoint_requests.h"

/*
 * Writes a line for each thing that took a fiftieth of the request, or longer, and when it began.
 * 0 or -ENOMEM.
 */
int request_story_put(FILE *out, const struct format_input *in, struct names *names,
		      struct waker_names *wakers, const struct chosen_wait *p);
