/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_story.h - one request in the order of time, as the thread that answered saw it. */
#pragma once

#include "chain_text.h"

/*
 * Writes a line for each thing that took a fiftieth of what is shown of the request, or longer, and
 * when it began; with_chains: and below it what the chains say of that time, as t->is_part asks.
 * Replaces t->wait. 0 or -ENOMEM.
 */
int request_story_put(struct chain_text *t, const struct chosen_wait *p, bool with_chains);
