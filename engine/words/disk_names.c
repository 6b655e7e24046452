// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_names.h"

const char *disk_op_name(unsigned int op)
{
	static const char *const names[CHAINLOG_DISK_OPS] = {
		[CHAINLOG_DISK_READ] = "read",	 [CHAINLOG_DISK_WRITE] = "write",
		[CHAINLOG_DISK_FLUSH] = "flush", [CHAINLOG_DISK_DISCARD] = "discard",
		[CHAINLOG_DISK_ZERO] = "zero",	 [CHAINLOG_DISK_OTHER] = "other",
	};

	return names[op < CHAINLOG_DISK_OPS ? op : CHAINLOG_DISK_OTHER];
}

const char *disk_device_name(const struct trace *t, uint32_t disk)
{
	const struct trace_object *o = trace_object(t, disk);

	return o ? trace_string(t, o->name) : "";
}

void disk_names_put(const struct trace *t, uint32_t disk, unsigned int op, struct text_buf *out)
{
	const char *name = disk_device_name(t, disk);

	text_puts(out, "disk ");
	text_puts(out, name);
	text_puts(out, *name ? " " : "");
	text_puts(out, disk_op_name(op));
}
