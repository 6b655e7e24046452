// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as the beginning of a request, which any client can send. */
#include "collector.h"

#include <string.h>

#include "routes/route.h"

/* The first two bytes: how many more there were. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct route_request request = { 0 };
	struct route r;

	if (size < 2)
		return 0;
	request.bytes = data + 2;
	request.n = size - 2 < ROUTE_BYTES ? size - 2 : ROUTE_BYTES;
	request.bytes_read = request.n + (uint64_t)(data[0] | data[1] << 8);
	must(route_parse(&r, &request) == r.protocol && r.protocol < ROUTE_PROTOCOLS);
	must(memchr(r.name, '\0', sizeof(r.name)) != NULL);
	for (const char *c = r.name; *c; c++)
		must((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		     (*c >= '0' && *c <= '9') || strchr(" /*._-~:+[]", *c));
	return 0;
}
