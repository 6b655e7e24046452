// SPDX-License-Identifier: GPL-2.0-or-later
/* By the semantic conventions 1.37: http, database, messaging. */
#include "route_attributes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Systems whose routes are an operation and perhaps what it is done to. */
static const struct system {
	const char *protocol, *key, *name, *operation, *target;
} systems[] = {
	{ "MySQL", "db.system.name", "mysql", "db.operation.name", "db.collection.name" },
	{ "PostgreSQL", "db.system.name", "postgresql", "db.operation.name", "db.collection.name" },
	{ "MongoDB", "db.system.name", "mongodb", "db.operation.name", "db.collection.name" },
	{ "redis", "db.system.name", "redis", "db.operation.name", "db.collection.name" },
	{ "memcached", "db.system.name", "memcached", "db.operation.name", "db.collection.name" },
	{ "Kafka", "messaging.system", "kafka", "messaging.operation.name",
	  "messaging.destination.name" },
};

/* Operations are written in capitals, what they are done to is not: "CREATE TABLE", "SELECT
 * orders". */
static bool is_target(const char *word)
{
	return (*word >= 'a' && *word <= 'z') || *word == '_' || *word == '*';
}

static void put_operation(const struct system *s, const char *route, route_attribute_fn put,
			  void *arg)
{
	char *copy = xstrdup(route), *operation = copy, *bracket = strchr(copy, '['), *last;

	/* "[startup]", "EXECUTE [not known]": what is in brackets was not asked for. */
	if (bracket)
		*(bracket > copy ? bracket - 1 : bracket) = '\0';
	last = strrchr(operation, ' ');
	if (last && is_target(last + 1))
		*last = '\0';
	else
		last = NULL;
	put(arg, s->key, s->name);
	if (*operation)
		put(arg, s->operation, operation);
	if (last)
		put(arg, s->target, last + 1);
	free(copy);
}

static void put_http(const char *route, route_attribute_fn put, void *arg)
{
	static const char *const methods[] = { "GET",	  "HEAD",    "POST",  "PUT",  "DELETE",
					       "CONNECT", "OPTIONS", "TRACE", "PATCH" };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t n = strlen(methods[i]);

		if (strncmp(route, methods[i], n) || route[n] != ' ' || route[n + 1] != '/')
			continue;
		put(arg, "http.request.method", methods[i]);
		put(arg, "http.route", route + n + 1);
	}
}

void route_attributes(const char *protocol, const char *route, route_attribute_fn put, void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (!strcmp(protocol, systems[i].protocol)) {
			put_operation(&systems[i], route, put, arg);
			return;
		}
	put_http(route, put, arg);
}
