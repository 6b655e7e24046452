// SPDX-License-Identifier: GPL-2.0-or-later
/* Which protocol's a request is: those with the surest signs are asked first. */
#include "route_parsers.h"

static const struct {
	const char *name;
	route_parser parse;
} protocols[ROUTE_PROTOCOLS] = {
	[ROUTE_UNKNOWN] = { "unknown", NULL },
	[ROUTE_HTTP] = { "HTTP", route_parse_http },
	[ROUTE_HTTP2] = { "HTTP/2", route_parse_http2 },
	[ROUTE_GRPC] = { "gRPC", NULL }, /* a stream of HTTP/2 says so */
	[ROUTE_FASTCGI] = { "FastCGI", route_parse_fastcgi },
	[ROUTE_REDIS] = { "redis", route_parse_redis },
	[ROUTE_MYSQL] = { "MySQL", route_parse_mysql },
	[ROUTE_POSTGRES] = { "PostgreSQL", route_parse_postgres },
	[ROUTE_MEMCACHED] = { "memcached", route_parse_memcached },
	[ROUTE_MONGODB] = { "MongoDB", route_parse_mongodb },
	[ROUTE_KAFKA] = { "Kafka", route_parse_kafka },
	[ROUTE_DNS] = { "DNS", route_parse_dns },
	[ROUTE_TLS] = { "TLS", route_parse_tls },
};

const char *route_protocol_name(enum route_protocol protocol)
{
	return protocols[protocol].name;
}

enum route_protocol route_parse(struct route *r, const struct route_request *request)
{
	struct route weak = { 0 }, found;

	for (enum route_protocol p = ROUTE_UNKNOWN + 1; p < ROUTE_PROTOCOLS; p++) {
		if (!protocols[p].parse || !protocols[p].parse(&found, request))
			continue;
		if (!found.is_weak) {
			*r = found;
			return p;
		}
		if (!weak.protocol)
			weak = found;
	}
	*r = weak;
	return weak.protocol;
}
