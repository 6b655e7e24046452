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

/* What the server says of an answer by its own clocks, in microseconds. */
struct server_clock {
	uint64_t took;	 /* 0: it does not say */
	uint64_t waited; /* for what makes it slow */
};

/* Asks, and waits until the whole answer is there; or ends the program. */
struct server_clock client_ask(void *connection, const char *request);
