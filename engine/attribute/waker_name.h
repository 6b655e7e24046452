/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waker_name.h - the waker of a wait in a few words: a thread, an interrupt and its handler. */
#pragma once

#include "words/names.h"
#include "timeline/timeline.h"

struct waker_names;

/* What is given must outlive it. */
void waker_names_new(struct waker_names **out, const struct timelines *tl, struct names *names);
void waker_names_free(struct waker_names *n);
/*
 * The id, in names, of a text for the waker of w, a WAIT_SLEEP: "mysqld", "[interrupt]
 * hrtimer_wakeup", "[not woken]", "[unknown]".
 */
uint32_t waker_name(struct waker_names *n, const struct wait *w);
