// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target: any bytes as what is told of a code object, which its program may have forged. */
#include "collector.h"

#include <string.h>

#include <linux/types.h>

#include "events/code_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct code_map *m;
	static struct wire_code r;
	static uint32_t id;

	must(m || !code_map_new(&m));
	if (size > sizeof(r))
		size = sizeof(r);
	memcpy(&r, data, size);
	/* Each time another one. */
	r.id = id = id % (WIRE_CODE_IDS - 1) + 1;
	if (code_map_take(m, &r, size))
		return 0;
	for (uint64_t place = 0; place < 1u << 20; place = place * 3 + 1) {
		struct code_location at = code_map_find(m, wire_code_frame(id, place, 0));

		must(strlen(at.function) < 4 * WIRE_CODE_TEXT &&
		     strlen(at.file) < 4 * WIRE_CODE_TEXT);
	}
	return 0;
}
