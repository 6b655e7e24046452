/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for the one thing that wants it: a page's policy names its own
 * scripts and styles by their hashes.
 */
#ifndef ENGINE_SHA256_H
#define ENGINE_SHA256_H

#include <stddef.h>

/* "sha256-" and the hash in base64, with its terminator. */
#define SHA256_SOURCE_SIZE 52

/* Writes the hash of the len bytes at p as Content-Security-Policy spells it, without quotes. */
void sha256_source(char out[SHA256_SOURCE_SIZE], const void *p, size_t len);

#endif /* ENGINE_SHA256_H */
