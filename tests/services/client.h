/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - what the clients of the services share: connections that ask, each from a thread of
 * its own, and what they measured (client.c). How one connects and asks is said by client_http.c
 * for web servers, and by client_postgresql.c for the database.
 */
#pragma once

#include <stdint.h>

/* Connects to the server of which the command line says where it is, or ends the program. */
void *client_connect(const char *address);

/*
 * Asks, and waits until the whole answer is there; or ends the program. How much of the time the
 * server says that it waited for what makes it slow, in microseconds; 0: it does not say.
 */
uint64_t client_ask(void *connection, const char *request);
