/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_asked.h - a request, as route_table.h and route_statements.h are asked for its route. */
#pragma once

#include "route.h"

struct route_asked {
	uint32_t endpoint;
	uint64_t connection;
	uint32_t nth;	/* request of its connection, from 1 on */
	bool is_old;	/* the connection is older than the recording */
	bool is_stream; /* nth: of the connection's headers; nothing else is known */
	const struct route_request *request; /* NULL: nothing but *r is known */
	const struct route
		*r; /* what route_parse() has made of it; name is "" where that is unknown */
};
