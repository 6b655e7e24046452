/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * publish.h - writes what OpenTelemetry's process context (OTEP 4719) says of the contexts of
 * threads: the mapping with the keys of their attributes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A field of a protocol buffer, of less than 128 bytes. */
static size_t put_field(uint8_t *to, uint8_t number, const void *bytes, size_t len)
{
	to[0] = (uint8_t)(number << 3 | 2);
	to[1] = (uint8_t)len;
	memcpy(to + 2, bytes, len);
	return len + 2;
}

/* The payload: extra attribute threadlocal.attribute_key_map = [keys]. */
static size_t put_keys(uint8_t *payload, const char *const *keys, size_t n)
{
	static const char name[] = "threadlocal.attribute_key_map";
	uint8_t array[100], value[110], attribute[120], string[40];
	size_t len = 0, attribute_len;

	for (size_t i = 0; i < n; i++)
		len += put_field(array + len, 1, string,
				 put_field(string, 1, keys[i], strlen(keys[i])));
	len = put_field(value, 5, array, len);
	attribute_len = put_field(attribute, 1, name, sizeof(name) - 1);
	attribute_len += put_field(attribute + attribute_len, 2, value, len);
	return put_field(payload, 2, attribute, attribute_len);
}

/* Publishes the keys for the rest of the process's life. */
static bool publish_keys(const char *const *keys, size_t n)
{
	struct {
		char signature[8];
		uint32_t version, size;
		uint64_t published_ns, payload;
		uint8_t bytes[200];
	} * at;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*at)))
		return false;
	at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	at->version = 2;
	at->payload = (uintptr_t)at->bytes;
	at->size = (uint32_t)put_keys(at->bytes, keys, n);
	at->published_ns = 1;
	memcpy(at->signature, "OTEL_CTX", sizeof(at->signature));
	return true;
}
