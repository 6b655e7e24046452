/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waited_for.h - what a wait was for, and of several things which one was ready, as a text. */
#pragma once

#include "names.h"

/* pair is the wait's stack pair. */

/* As frames: "[tcp]", "[epoll];[tcp]", "" without an object. */
uint32_t waited_for_frames(struct names *n, uint32_t pair, bool in_full);
/* In words: "tcp 10.0.0.5:5432", "epoll 7:5, ready: tcp 10.0.0.5:5432", "" without an object. */
uint32_t waited_for_words(struct names *n, uint32_t pair);

/* Of a sleep with WAIT_NOT_WOKEN, what ended it: "until it was killed" and so on. */
const char *words_not_woken(const struct names *n, const struct wait *w);
/* The text for an object of the trace, in words. */
uint32_t words_of_object(struct names *n, uint32_t object);
