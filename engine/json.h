/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - strings of a trace as JSON, whatever bytes they have. */
#ifndef ENGINE_JSON_H
#define ENGINE_JSON_H

#include "texts.h"

/*
 * Adds s to b as a JSON string, in quotes, always well-formed UTF-8: each byte that is not part of
 * well-formed UTF-8 becomes U+FFFD; quotes, backslashes and control characters (C0, DEL, C1)
 * are escaped, so that nothing reaches a terminal raw.
 */
void json_string(struct text_buf *b, const char *s);

#endif /* ENGINE_JSON_H */
