// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as lines of /proc/PID/maps, in which paths are whatever a user likes. */
#include "collector.h"

#include "files/proc_images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl + 1 : end) - p);
		struct code_place place = { .tgid = 1 };
		uint64_t pgoff = 0;
		char *line = malloc(len + 1);
		int is_code;

		/* As getline() gives it. */
		must(line != NULL);
		memcpy(line, p, len);
		line[len] = '\0';
		is_code = procmaps_parse(line, &place, &pgoff);
		if (is_code >= 0) {
			must(place.start < place.end);
			must(place.path >= line && place.path <= line + len);
			must(strlen(place.path) <= len && place.tgid == 1);
		}
		free(line);
		p += len;
	}
	return 0;
}
