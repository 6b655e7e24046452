/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trust.h - what of a trace limits how far its answers can be trusted, and what helps. */
#pragma once

#include "format.h"
#include "select/wait_filter.h"

/*
 * Calls put for each of these, a sentence without its full stop; text is valid during the call. Of
 * sleeps those that like chooses.
 */
void trust_tell(const struct format_input *in, const struct wait_filter *like, struct names *names,
		void (*put)(void *arg, const char *text), void *arg);
