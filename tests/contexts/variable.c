// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * variable.c - the thread-local variable by which OpenTelemetry's thread context is found. It is
 * built into a program, and as libraries in each of the ways in which compilers reach it. BLOCK is
 * the size of the library's thread-local block: a small one of a library that is loaded later may
 * get a place at a fixed distance from the thread pointer, a large one has none.
 */
#include "variable.h"

__attribute__((visibility("default"))) __thread const void *volatile otel_thread_ctx_v1;

#ifdef BLOCK
__attribute__((visibility("default"))) __thread char context_block[BLOCK];
#endif

__attribute__((visibility("default"))) void context_set(const void *record)
{
	otel_thread_ctx_v1 = record;
}
