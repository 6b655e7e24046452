/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_libraries.h - which files are OpenSSL's libssl: those that distributions install, and what
 * processes have mapped under its name, also in containers. These are strangers' files, perhaps.
 */
#pragma once

#include <stddef.h>

#define TLS_LIBRARIES_MAX 12

struct tls_libraries {
	int fd[TLS_LIBRARIES_MAX];
	size_t n;
	size_t left_out; /* as there were more, or they could not be opened */
};

/*
 * Opens them, no file twice, installed ones first. Returns 0 or -ENOMEM. To be closed by
 * tls_libraries_close() in both cases.
 */
int tls_libraries_open(struct tls_libraries *t);
void tls_libraries_close(struct tls_libraries *t);
