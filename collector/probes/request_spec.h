/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_spec.h - what --request and --request-label say: where requests of a name begin and end.
 *
 *     NAME=PATH:FUNCTION                       the call of a function
 *     NAME=PATH:BEGIN@argN,PATH:END@argN       two marks, the same argument at both
 *     NAME=usdt:PATH:PROVIDER:NAME,usdt:...    likewise; without @argN: on one thread
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

/* Part of a command line; borrowed. */
struct spec_text {
	const char *s;
	size_t len;
};

/* An argument: of the function that a mark is in, or of a USDT probe. */
struct spec_arg {
	unsigned int n; /* from 1 on; 0: none */
	uint8_t bytes;	/* 0: as the probe has it */
	bool is_signed, is_string;
};

struct probe_mark {
	bool is_usdt;
	struct spec_text path;
	struct spec_text provider; /* of a USDT probe */
	struct spec_text name;
	uint64_t offset; /* from the function's first instruction */
	struct spec_arg id;
};

struct request_spec {
	char name[WIRE_PROBE_NAME];
	bool is_call;		      /* of the function at `begin`, else two marks */
	struct probe_mark begin, end; /* both have an id, or neither */
	struct spec_arg label;	      /* of `begin` */
};

/* Returns 0, or -EINVAL with one line in why that says what is wrong. */
int request_spec_parse(struct request_spec *out, const char *text, char *why, size_t why_size);
/*
 * Adds what --request-label says, "[NAME=]argN[:TYPE]", to the one of n specs that it means.
 * Returns as above.
 */
int request_spec_label(struct request_spec *specs, size_t n, const char *text, char *why,
		       size_t why_size);
