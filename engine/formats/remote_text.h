/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote_text.h - what other machines did for a wait (chain-semantics, section 16), in the text of
 * chain_text.h.
 */
#pragma once

#include "chain_text.h"

struct remote_texts;

/* hosts and o, as for chain_text_init(), must outlive it. 0 or -ENOMEM. */
int remote_texts_new(struct remote_texts **out, const struct joined_host *hosts, uint32_t n,
		     const struct options *o);
void remote_texts_free(struct remote_texts *r);
/* Has t put what other machines did. */
void remote_texts_use(struct remote_texts *r, struct chain_text *t);
