/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cause_json.h - the causes for scripts. */
#pragma once

#include "base/json_object.h"
#include "causes/causes.h"
#include "format.h"

/*
 * --format=causes --json: writes an object on a line of its own for each cause, all times in ns,
 * the pauses behind the others; with --top only so many.
 */
void causes_put_json(FILE *out, const struct format_input *in, const struct names *n,
		     const struct causes *all);
/* Adds the members of a cause to an object; at most so many of those whom it made wait. */
void cause_json_members(struct json_object *j, const struct format_input *in, const struct names *n,
			const struct causes *all, const struct cause *c, size_t victims);
