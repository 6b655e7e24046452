// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as perf's data file, through the import, the reader and every output
 * format. What the import makes must be a sound trace, whatever the bytes.
 */
#include "engine.h"

#include "import/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_report report;
	size_t offset, log_len;
	uint8_t *log, *copy;
	int err;

	if (!perf_file_is(data, size))
		return 0;
	/* No cache of perf's: what is tried here is the file. */
	setenv("HOME", "/nonexistent", 1);
	/* Of just this size, so that a read beyond it is caught. */
	copy = malloc(size);
	must(copy != NULL, "memory for a copy");
	memcpy(copy, data, size);
	err = perf_data_import(copy, size, 1, NULL, &log, &offset, &log_len, &report);
	free(copy);
	if (err)
		return 0;
	check_imported(log, offset, log_len, &report);
	return 0;
}
