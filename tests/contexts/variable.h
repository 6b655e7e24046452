/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The record of the calling thread; NULL: it has none. */
void context_set(const void *record);
