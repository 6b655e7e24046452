// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes small data files of perf into a folder, as seeds for fuzz_perf_data. The seeds are in the
 * tree (tests/fuzz/corpus/perf_data); this makes them anew, and needs libzstd.
 */
#include <stdio.h>
#include <zstd.h>

#include "../unit/perf_data_make.h"

static struct made made;

static int save(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;
	int ok;

	made_end(&made);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f) {
		perror(path);
		return 1;
	}
	ok = fwrite(made.p, 1, made.len, f) == made.len;
	if (fclose(f) || !ok) {
		perror(path);
		return 1;
	}
	return 0;
}

/* A waits for B, what is mapped changes, and something is lost. */
static void fill(void)
{
	uint32_t a = text_tid("A");

	made_comm(&made, 0, a, a, false, "A");
	made_map(&made, 0, a, 0x400000, 0x3000, 0, "/usr/bin/prog");
	made_switch(&made, 1, 1, "-", "R", "B", "");
	made_switch(&made, 0, 100, "A", "S", "-", "schedule;recv|400100;402200");
	made_round(&made);
	made_map(&made, 150, a, 0x401000, 0x1000, 0, "/usr/lib/lib.so");
	made_waking(&made, 1, 200, "B", "A", "try_to_wake_up;send|400100");
	made_switch(&made, 0, 210, "-", "R", "A", "");
	made_lost(&made, 0, 250, 3);
	made_round(&made);
	made_fork(&made, 300, a, text_tid("C"));
	made_comm(&made, 310, a, a, true, "other");
	made_switch(&made, 0, 400, "A", "S", "C", "schedule;recv|401100");
	made_waking(&made, 1, 500, "B", "A", "try_to_wake_up;send?77");
	made_deferred(&made, 510, 0x77, "|400100;402200");
}

/* As a file, but compressed. */
static void fill_compressed(void)
{
	static struct made plain;
	static uint8_t packed[32 << 10];
	ZSTD_CStream *z = ZSTD_createCStream();
	ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
	ZSTD_inBuffer in;
	size_t at;

	made = (struct made) { .len = 0 };
	made_begin(&made);
	fill();
	plain = made;
	in = (ZSTD_inBuffer) { plain.p + plain.data, plain.len - plain.data, 0 };
	made_begin(&made);
	assert(z);
	for (int piece = 0; piece < 2; piece++) {
		size_t all = plain.len - plain.data;

		in.size = piece ? all : all / 2 + 3;
		while (in.pos < in.size)
			(void)ZSTD_compressStream(z, &out, &in);
		(void)ZSTD_flushStream(z, &out);
		at = made_begin_record(&made, PERF_COMPRESSED2, 0);
		made_u64(&made, out.pos);
		made_bytes(&made, packed, out.pos);
		made_end_record(&made, at);
		out.pos = 0;
	}
	ZSTD_freeCStream(z);
}

int main(int argc, char **argv)
{
	int bad = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	for (int pipe = 0; pipe < 2; pipe++) {
		made = (struct made) { .is_pipe = pipe };
		made_begin(&made);
		fill();
		bad |= save(argv[1], pipe ? "pipe" : "file");
	}
	fill_compressed();
	bad |= save(argv[1], "compressed");
	made = (struct made) {
		.is_moved = true,
		.sample_type = (MADE_USUAL ^ PERF_BIT_IDENTIFIER) | PERF_BIT_ID | PERF_BIT_STREAM |
			       PERF_BIT_ADDR | PERF_BIT_READ,
	};
	made_begin(&made);
	fill();
	return bad | save(argv[1], "fields");
}
