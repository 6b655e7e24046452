/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disk_names.h - how block devices, and what they are asked for, are called. */
#ifndef ENGINE_DISK_NAMES_H
#define ENGINE_DISK_NAMES_H

#include "base/text.h"
#include "trace/trace.h"

/* "read", "write" and so on, of enum chainlog_disk_op. */
const char *disk_op_name(unsigned int op);
/* The device's name, not cleaned; "" if it is not known. */
const char *disk_device_name(const struct trace *t, uint32_t disk);
/* Puts "disk vda read", not cleaned. */
void disk_names_put(const struct trace *t, uint32_t disk, unsigned int op, struct text_buf *out);

#endif /* ENGINE_DISK_NAMES_H */
