/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handler.h - what an interrupt that woke somebody was there for, in one word: the function that
 * the kernel's interrupt, softirq or timer code had called.
 */
#ifndef ENGINE_HANDLER_H
#define ENGINE_HANDLER_H

#include "trace.h"

/*
 * Of the leaf-most `frames` frames of a kernel stack, which are an interrupt's, the handler: its
 * frame id. Where no code that calls handlers is among them, the root-most; 0 if there are none.
 */
uint32_t handler_frame(const struct trace *t, uint32_t kstack, uint32_t frames);

#endif /* ENGINE_HANDLER_H */
