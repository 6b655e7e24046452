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
	struct trace_bytes log;
	uint8_t *copy;
	int err;

	if (!perf_file_is(data, size))
		return 0;
	/* No cache of perf's: what is tried here is the file. */
	setenv("HOME", "/nonexistent", 1);
	/* Of just this size, so that a read beyond it is caught. */
	copy = malloc(size);
	must(copy != NULL, "memory for a copy");
	memcpy(copy, data, size);
	err = perf_data_import(
		&(struct import_input) { .p = copy, .len = size, .fd = -1, .written_ns = 1 }, &log,
		&report);
	free(copy);
	if (err)
		return 0;
	check_imported(&log, &report);
	return 0;
}
