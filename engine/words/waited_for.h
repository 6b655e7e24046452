/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waited_for.h - what a wait was for, and of several things which one was ready, in one text. Each
 * function returns the id of a text of names, or 0 when out of memory; pair is the wait's stack
 * pair.
 */
#ifndef ENGINE_WAITED_FOR_H
#define ENGINE_WAITED_FOR_H

#include "names.h"

/* As frames: "[tcp]", "[epoll];[tcp]", "" without an object. */
uint32_t waited_for_frames(struct names *n, uint32_t pair, bool in_full);
/* In words: "tcp 10.0.0.5:5432", "epoll 7:5, ready: tcp 10.0.0.5:5432", "" without an object. */
uint32_t waited_for_words(struct names *n, uint32_t pair);

/* The text for an object of the trace, in words. */
uint32_t words_of_object(struct names *n, uint32_t object);

#endif /* ENGINE_WAITED_FOR_H */
