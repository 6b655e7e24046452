/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc.h - memory for programs that have nothing to save: chainwalk and flamegraph. Nothing here
 * fails: without memory the program says so in one line and exits 1. Not for the recorder, which
 * has to survive (tests/lint/floors.sh).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "grow.h"
#include "intern.h"

/*
 * Says that there is no memory, and what can be done, then quick_exit(1): from any thread, and
 * whatever locks are held. No buffer is written; output_file.h removes what is not whole.
 */
_Noreturn void out_of_memory(void);

/* As the functions without the x. What they return is the caller's, to be freed by free(). */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size); /* n * size is checked */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t max);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream into memory. After xmemstream_close(), with the same p, the caller frees *p. */
FILE *xmemstream(char **p, size_t *len);
void xmemstream_close(FILE *f, char *const *p);

/* As intern_id() (intern.h): never 0. */
uint32_t xintern(struct intern *t, const void *key, size_t len, bool *is_new);

/*
 * Makes room for item i in array, a variable that has n of them, and for half as many more. What is
 * added is zero.
 */
#define XREACH(array, n, i) ((i) < (n) ? (void)0 : xreach(&(array), &(n), i, sizeof(*(array))))
void xreach(void *array, size_t *n, size_t i, size_t size); /* private to XREACH() */

/* As GROW() and GROW_ZEROED() (grow.h), as statements. */
#define XGROW(array, n, cap) (GROW(array, n, cap) ? (void)0 : out_of_memory())
#define XGROW_ZEROED(array, i, cap) (GROW_ZEROED(array, i, cap) ? (void)0 : out_of_memory())
/* The item n of array, a variable that has room for cap, to be set; n is then one more. */
#define XAPPEND(array, n, cap) (*(XGROW(array, n, cap), &(array)[(n)++]))
