// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as text of perf script, or as Go's execution trace if they begin like one,
 * through the import, the reader and every output format. What the import makes must be a sound
 * trace, whatever the bytes.
 */
#include "engine.h"

#include "import/go_import.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_report report;
	size_t offset, log_len;
	uint8_t *log;
	/* Of just this size, so that a read beyond it is caught. */
	char *copy = malloc(size + !size);
	int err;

	must(copy != NULL, "memory for a copy");
	if (size)
		memcpy(copy, data, size);
	if (go_is_trace(copy, size))
		err = go_import((uint8_t *)copy, size, &log, &offset, &log_len, &report);
	else
		err = import_stream(copy, size, -1, NULL, &log, &offset, &log_len, &report);
	free(copy);
	if (err)
		return 0;
	check_imported(log, offset, log_len, &report);
	return 0;
}
