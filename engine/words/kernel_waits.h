/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_waits.h - what a thread waits for in the kernel, as a person would say it, where neither
 * its system call nor the program's own functions tell: by the kernel's functions.
 */
#pragma once

#include "timeline/timeline.h"

/*
 * In words, "a permission by fanotify"; NULL: not known. at_lock: it sleeps at a lock of the
 * kernel's, and the words are that lock's.
 */
const char *kernel_wait_words(const struct timelines *tl, uint32_t kstack, bool at_lock);
