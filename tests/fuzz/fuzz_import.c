// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as text of perf script, or as Go's execution trace if they begin like one,
 * through the import, the reader and every output format. What the import makes must be a sound
 * trace, whatever the bytes.
 */
#include "engine.h"

#include "go/go_import.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_report report;
	struct trace_bytes log;
	/* Of just this size, so that a read beyond it is caught. */
	uint8_t *copy = malloc(size + !size);
	const struct import_input source = { .p = copy, .len = size, .fd = -1 };
	int err;

	must(copy != NULL, "memory for a copy");
	if (size)
		memcpy(copy, data, size);
	if (go_is_trace(copy, size))
		err = go_import(&source, &log, &report);
	else
		err = import_stream(&source, &log, &report);
	free(copy);
	if (err)
		return 0;
	check_imported(&log, &report);
	return 0;
}
