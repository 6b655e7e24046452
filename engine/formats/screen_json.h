/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_json.h - the first screen for scripts and language models: --json without a format. One
 * object, described by a schema (screen.schema.json).
 */
#pragma once

#include "causes/causes.h"
#include "subjects.h"

/* At most so many bytes, with the newline, unless --wide is given. */
#define SCREEN_JSON_MOST 8192

/* Writes it. n: the names of the causes; like: which waits are chosen. */
void screen_put_json(FILE *out, const struct format_input *in, const struct subjects *subjects,
		     const struct names *n, const struct causes *causes,
		     const struct wait_filter *like);
/* Writes the schema, JSON Schema of 2020-12. */
void screen_put_schema(FILE *out);
