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
	struct options o;
	struct trace *t;
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
	err = perf_data_import(copy, size, 1, &log, &offset, &log_len, &report);
	free(copy);
	if (err)
		return 0;
	must(trace_open_memory(&t, log + offset, log_len) == 0, "a trace is made");
	must(!trace_damage(t)->what, "the trace is sound");
	must(trace_info(t)->complete, "the trace is complete");
	must(trace_info(t)->events_of[EVENT_SWITCH] == report.switches, "no switch is lost");
	check_promises(t);
	options_init(&o);
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	write_all(t, &o);
	options_free(&o);
	trace_close(t);
	free(log);
	return 0;
}
