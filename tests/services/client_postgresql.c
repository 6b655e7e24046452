// SPDX-License-Identifier: GPL-2.0-or-later
/* client_postgresql.c - asks PostgreSQL: ADDRESS is a connection string, REQUEST a command. */
#include <libpq-fe.h>

#include "../workload/slow/slow.h"
#include "client.h"

void *client_connect(const char *address)
{
	PGconn *connection = PQconnectdb(address);

	if (PQstatus(connection) != CONNECTION_OK) {
		fprintf(stderr, "%s", PQerrorMessage(connection));
		exit(1);
	}
	return connection;
}

struct server_clock client_ask(void *connection, const char *request)
{
	PGresult *result = PQexec(connection, request);

	if (PQresultStatus(result) != PGRES_COMMAND_OK &&
	    PQresultStatus(result) != PGRES_TUPLES_OK) {
		fprintf(stderr, "%s", PQerrorMessage(connection));
		exit(1);
	}
	PQclear(result);
	return (struct server_clock) { 0, 0 };
}
