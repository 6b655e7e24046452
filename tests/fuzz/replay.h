/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - the entry of a fuzz target. Built by libFuzzer (make fuzz), or with -DREPLAY as a
 * program that runs the files named on its command line once each: then this has its main().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef REPLAY
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static uint8_t buf[4 << 20];
		FILE *f = fopen(argv[i], "rb");
		uint8_t *exact;
		size_t n;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		n = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		/* Of its own size, so that reading behind it shows. */
		exact = malloc(n ? n : 1);
		if (!exact)
			abort();
		memcpy(exact, buf, n);
		LLVMFuzzerTestOneInput(exact, n);
		free(exact);
	}
	return 0;
}
#endif
