/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording_title.h - what was recorded, when, and for how long, for the title of a picture. */
#pragma once

#include "base/text.h"
#include "trace/trace.h"

/* Adds "make -j2 on host, 2026-11-21 13:09:36 UTC, 3.03 s": text of the trace, not cleaned. */
void recording_title_put(struct text_buf *title, const struct trace_info *i);
