/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_words.h - what JSON says of threads, stacks, objects and requests: members of objects, as
 * the manual page describes them.
 */
#pragma once

#include "base/json_object.h"
#include "common/intern.h"
#include "words/names.h"

struct json_words {
	struct json_object *to; /* where members are put */
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct intern texts;
	struct pair_table of_stack; /* as JSON, by (stack pair, kernel frames << 1 | with user) */
	uint64_t *median_ns;	    /* request_medians(); NULL: not asked for yet */
	struct text_buf buf;
};

/* to, tl and o must outlive it. To be ended with json_words_free(). */
void json_words_init(struct json_words *j, struct json_object *to, const struct timelines *tl,
		     const struct options *o);
void json_words_free(struct json_words *j);
/* A thread's name; an unknown one is written as in folded lines. */
void json_put_name(struct json_words *j, const char *key, uint32_t string);
/* Two members. */
void json_put_ids(struct json_words *j, uint32_t thread);
/* A frame, as names_frame(), but not cleaned; then " (FILE:LINE)" if known. */
void json_put_frame(struct json_words *j, struct json_object *to, const char *key, uint32_t frame);
void json_put_stack(struct json_words *j, const char *key, uint32_t pair, uint32_t kernel_frames,
		    bool with_user);
/*
 * An object as a member: what was waited for. Nothing if it is not known. holder: the thread (tid)
 * that had it; 0: not known.
 */
void json_put_object(struct json_words *j, const char *name, uint32_t object, uint32_t holder);
/* What a client waits for. */
void json_put_request(struct json_words *j, const struct request *q);
