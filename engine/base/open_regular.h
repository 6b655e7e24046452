/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open_regular.h - files that a trace or a recording names: it may name whatever it likes. */
#pragma once

/*
 * Opens a regular file for reading. Nothing else is opened, as that has an effect: who waits to
 * write into a FIFO goes on, a device may do anything. Returns a negative errno, -EINVAL for these.
 */
int open_regular(const char *path);
