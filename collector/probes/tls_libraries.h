/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_libraries.h - which files are OpenSSL's libssl: where distributions install it, and what
 * processes have mapped under its name, also in containers. What is found is a stranger's, perhaps.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#define TLS_LIBRARIES_MAX 12

struct tls_libraries {
	char path[TLS_LIBRARIES_MAX][PATH_MAX]; /* "/usr/lib/...", or "/proc/PID/root/..." */
	size_t n;
	size_t left_out; /* as there were more */
};

/* No file twice, installed ones first. */
void tls_libraries_find(struct tls_libraries *t);
