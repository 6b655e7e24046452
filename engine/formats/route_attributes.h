/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_attributes.h - a route of requests by the names that OpenTelemetry has for its parts. */
#pragma once

typedef void (*route_attribute_fn)(void *arg, const char *key, const char *text);

/*
 * Calls put for each part of a route, "GET /cart", "SELECT orders"; protocol: as the trace says
 * it, "" if that is not known: then only a method of HTTP with a path has parts. Texts are valid
 * until put returns.
 */
void route_attributes(const char *protocol, const char *route, route_attribute_fn put, void *arg);
