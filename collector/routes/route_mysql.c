// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of MySQL and MariaDB: "MySQL Client/Server Protocol", "Command Phase". A packet is 3
 * bytes of length, a number, which is 0 for a command, and the command.
 */
#include "route_parsers.h"
#include "route_writer.h"

#define HEADER 4
#define COM_QUERY 3
#define COM_STMT_PREPARE 0x16
#define COM_STMT_EXECUTE 0x17
#define COM_STMT_CLOSE 0x19
#define CLOSE_LENGTH 5 /* the command, and a statement's number */

/* The others that a client waits for. */
static const char *const commands[] = {
	[0x02] = "INIT DB",	     [0x04] = "FIELD LIST", [0x07] = "REFRESH",
	[0x09] = "STATISTICS",	     [0x0e] = "PING",	    [0x11] = "CHANGE USER",
	[0x1a] = "STMT RESET",	     [0x1b] = "SET OPTION", [0x1c] = "FETCH",
	[0x1f] = "RESET CONNECTION",
};

/* MySQL 8 writes how many attributes a query has before its text: none, in one set. */
static struct bytes query_text(struct bytes b)
{
	if (left(&b) > 2 && b.at[0] == 0 && b.at[1] == 1)
		b.at += 2;
	return b;
}

/* Statements that are closed with the same write: nothing is answered to that. */
static void skip_closed(struct bytes *b, uint64_t *before)
{
	while (left(b) > HEADER && b->at[0] == CLOSE_LENGTH && !b->at[1] && !b->at[2] &&
	       !b->at[3] && b->at[HEADER] == COM_STMT_CLOSE && left(b) >= HEADER + CLOSE_LENGTH) {
		b->at += HEADER + CLOSE_LENGTH;
		*before += HEADER + CLOSE_LENGTH;
	}
}

bool route_parse_mysql(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w = route_begin(r, ROUTE_MYSQL, true);
	uint64_t length, number, command, before = 0;

	skip_closed(&b, &before);
	if (!take_little_endian(&b, 3, &length) || !take_little_endian(&b, 1, &number) || number ||
	    before + HEADER + length != request->bytes_read || !take_little_endian(&b, 1, &command))
		return false;
	if (command == COM_QUERY || command == COM_STMT_PREPARE) {
		if (command == COM_STMT_PREPARE)
			r->use = ROUTE_PREPARES;
		r->is_weak = !route_put_sql(&w, command == COM_QUERY ? query_text(b) : b,
					    is_cut(request));
		return !r->is_weak;
	}
	if (command == COM_STMT_EXECUTE) {
		r->use = ROUTE_EXECUTES;
		route_put_text(&w, "EXECUTE");
		return take_little_endian(&b, 4, &r->statement);
	}
	if (command >= ARRAY_SIZE(commands) || !commands[command])
		return false;
	route_put_text(&w, commands[command]);
	return true;
}
