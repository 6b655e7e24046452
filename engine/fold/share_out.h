/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share_out.h - splits a number in proportion, so that the parts add up to it. */
#ifndef ENGINE_SHARE_OUT_H
#define ENGINE_SHARE_OUT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Splits total in proportion to parts[0..n), whose sum is not 0, into shares that add up to it: by
 * largest remainder, among equals those that come first. 0 or -ENOMEM.
 */
int share_out(uint64_t total, const uint64_t *parts, size_t n, uint64_t *shares);

#endif /* ENGINE_SHARE_OUT_H */
