// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as a process context, which any program can write about itself. */
#include "collector.h"

#include <linux/types.h>

#include "chainwire.h"
#include "files/process_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	must(process_context_route(data, size) <= WIRE_NO_KEY);
	return 0;
}
