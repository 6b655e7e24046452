// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guards clean-ups of the collector: what the BPF side told in recordings of our workloads
 * (tests/data/tapes, made by tests/tapes.sh) is given to the translator and to the flight recorder,
 * and each writes the same bytes as it always did, by their checksums in tests/data/tapes/sums.
 * With ACCEPT=1 that file is written anew; with TAPES_OUT=FOLDER the traces are left there, to
 * compare those of two builds with chainwalk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "test.h"

#include "common/crc32c.h"
#include "events/translate.h"
#include "flight/flight.h"
#include "../tools/tape.h"

#define SUMS "tests/data/tapes/sums"
/* Blocks are finished after so many items, as the recorder does by time. */
#define FLUSH_ITEMS 2000u

/* ---- what nothing is known of any more: addresses of kernels and processes that are gone ---- */

uint32_t __wrap_symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns);
uint32_t __wrap_symbolizer_trusted_prefix(struct symbolizer *s, uint32_t space, const __u64 *frames,
					  uint32_t n, uint64_t time_ns, bool *in_doubt);
bool __wrap_symbolizer_is_valid_at(struct symbolizer *s, uint32_t space, uint64_t time_ns);
bool __wrap_symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr, uint64_t time_ns);
void __wrap_symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
				    uint32_t generation);

static struct encoder *space_encoder;

/* Every process has one address space, of which all is trusted. */
uint32_t __wrap_symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	(void)s;
	(void)time_ns;
	return encoder_space(space_encoder, tgid, "");
}

uint32_t __wrap_symbolizer_trusted_prefix(struct symbolizer *s, uint32_t space, const __u64 *frames,
					  uint32_t n, uint64_t time_ns, bool *in_doubt)
{
	(void)s;
	(void)space;
	(void)frames;
	(void)time_ns;
	*in_doubt = false;
	return n;
}

bool __wrap_symbolizer_is_valid_at(struct symbolizer *s, uint32_t space, uint64_t time_ns)
{
	(void)s;
	(void)time_ns;
	return space;
}

bool __wrap_symbolizer_is_tracer_frame(struct symbolizer *s, uint64_t addr, uint64_t time_ns)
{
	(void)s;
	(void)addr;
	(void)time_ns;
	return false;
}

void __wrap_symbolizer_kernel_frame(struct symbolizer *s, uint32_t frame, uint64_t addr,
				    uint32_t generation)
{
	(void)s;
	(void)frame;
	(void)addr;
	(void)generation;
}

/* ---- replay ---------------------------------------------------------------------------------- */

struct tape {
	gzFile file;
	struct tape_head head;
	union {
		struct wire_record r;
		struct wire_thread thread;
		uint32_t number[2];
		uint8_t bytes[1u << 16];
	} at;
	uint32_t learnt; /* of the sample at hand */
	uint64_t first_ns, last_ns;
};

/* Reads the next item. Returns false at the end. */
static bool next(struct tape *t)
{
	int n = gzread(t->file, &t->head, sizeof(t->head));

	if (!n)
		return false;
	assert_int_equal(n, sizeof(t->head));
	assert_in_range(t->head.len, 1, sizeof(t->at));
	assert_int_equal(gzread(t->file, &t->at, t->head.len), t->head.len);
	return true;
}

static struct tape *open_tape(const char *name)
{
	struct tape *t = calloc(1, sizeof(*t));
	char path[128];

	assert_non_null(t);
	snprintf(path, sizeof(path), "tests/data/tapes/%s.tape", name);
	t->file = gzopen(path, "rb");
	assert_non_null(t->file);
	return t;
}

static void close_tape(struct tape *t)
{
	assert_int_equal(gzclose(t->file), Z_OK);
	free(t);
}

/* Whatever the sample's stack has, it gets the layout that it got when it was recorded. */
static uint32_t learn(void *ctx, const struct wire_layout_sample *s, uint32_t first)
{
	struct tape *t = ctx;
	struct tape_head head;

	(void)s;
	(void)first;
	assert_int_equal(gzread(t->file, &head, sizeof(head)), sizeof(head));
	assert_int_equal(head.item, TAPE_LEARNT);
	assert_int_equal(gzread(t->file, &t->learnt, sizeof(t->learnt)), sizeof(t->learnt));
	return t->learnt;
}

struct written {
	uint32_t sum;
	FILE *copy; /* NULL: none is wanted */
};

static int take_block(void *ctx, const void *block, size_t len)
{
	struct written *w = ctx;

	w->sum = crc32c(w->sum, block, len);
	if (w->copy)
		assert_int_equal(fwrite(block, 1, len, w->copy), len);
	return 0;
}

static struct encoder *begin_written(struct written *w, const char *name, const char *by)
{
	const char *folder = getenv("TAPES_OUT");
	struct encoder *enc;
	char path[256];

	*w = (struct written) { 0 };
	if (folder) {
		snprintf(path, sizeof(path), "%s/%s.%s", folder, name, by);
		w->copy = fopen(path, "w");
		assert_non_null(w->copy);
	}
	assert_int_equal(encoder_new(&enc, take_block, w), 0);
	assert_int_equal(encoder_info(enc, &(struct chainlog_info) { .cpus = 2 }), 0);
	return enc;
}

static uint32_t end_written(struct written *w, struct encoder *enc)
{
	encoder_free(enc);
	if (w->copy)
		fclose(w->copy);
	return w->sum;
}

static void note_time(struct tape *t, uint64_t time_ns)
{
	if (!t->first_ns)
		t->first_ns = time_ns;
	if (t->last_ns < time_ns)
		t->last_ns = time_ns;
}

static uint32_t replay_to_file(const char *name)
{
	struct tape *t = open_tape(name);
	struct translator *translator;
	struct symbolizer *sym;
	struct written w;
	struct encoder *enc = space_encoder = begin_written(&w, name, "trace");

	assert_int_equal(symbolizer_new(&sym, enc, 0), 0);
	assert_int_equal(translator_new(&translator, enc, sym, NULL, learn, t), 0);
	for (uint32_t n = 1; next(t); n++) {
		if (t->head.item == TAPE_RECORD) {
			note_time(t, t->at.r.time_ns);
			assert_int_equal(translator_record(translator, &t->at.r, t->head.len), 0);
		} else if (t->head.item == TAPE_THREAD) {
			assert_int_equal(translator_thread(translator, &t->at.thread), 0);
		} else {
			assert_int_equal(
				translator_holder(translator, t->at.number[0], t->at.number[1]), 0);
		}
		if (n % FLUSH_ITEMS == 0)
			assert_int_equal(encoder_flush(enc), 0);
	}
	assert_int_equal(id_map_settle_objects(translator_ids(translator)), 0);
	assert_int_equal(encoder_end(enc, t->last_ns, 0, 0), 0);
	translator_free(translator);
	symbolizer_free(sym);
	close_tape(t);
	return end_written(&w, enc);
}

/* All but the first half of the time is dropped, then a trace is written. */
static uint32_t replay_to_flight(const char *name)
{
	struct flight_options o = { .window_ns = 1, .cpus = 64, .max_bytes = 64u << 20 };
	struct tape *t = open_tape(name);
	struct symbolizer_stats stats;
	struct symbolizer *sym;
	struct flight *flight;
	struct written w;
	struct encoder *enc;
	uint64_t half_ns;
	uint32_t n = 0;

	while (next(t))
		if (t->head.item == TAPE_RECORD)
			note_time(t, t->at.r.time_ns);
	half_ns = (t->last_ns - t->first_ns) / 2 + 1;
	o.window_ns = half_ns;
	assert_int_equal(gzrewind(t->file), 0);
	assert_int_equal(flight_new(&flight, &o), 0);
	space_encoder = flight_encoder(flight);
	assert_int_equal(symbolizer_new(&sym, space_encoder, 0), 0);
	assert_int_equal(flight_begin(flight, t->first_ns, sym, NULL, learn, t), 0);
	while (next(t)) {
		if (t->head.item == TAPE_RECORD)
			assert_int_equal(flight_record(flight, &t->at.r, t->head.len), 0);
		else if (t->head.item == TAPE_THREAD)
			assert_int_equal(flight_thread(flight, &t->at.thread), 0);
		else
			assert_int_equal(flight_holder(flight, t->at.number[0], t->at.number[1]),
					 0);
		if (++n % FLUSH_ITEMS == 0)
			assert_int_equal(flight_flush(flight, t->first_ns), 0);
	}
	assert_int_equal(flight_flush(flight, t->last_ns), 0);
	assert_int_equal(flight_forget(flight, t->last_ns), 0);
	enc = begin_written(&w, name, "flight");
	assert_int_equal(
		flight_dump(flight, enc, flight_from(flight, t->last_ns), t->last_ns, &stats), 0);
	symbolizer_free(sym);
	flight_free(flight);
	close_tape(t);
	return end_written(&w, enc);
}

/* ---- the test -------------------------------------------------------------------------------- */

TEST(the_log_of_a_tape_has_the_same_bytes)
{
	FILE *sums = fopen(SUMS, "r"), *now = tmpfile();
	char name[64];
	unsigned int file, flight, n = 0, differ = 0;

	assert_non_null(sums);
	assert_non_null(now);
	while (fscanf(sums, "%63s %x %x", name, &file, &flight) == 3) {
		unsigned int to_file = replay_to_file(name), to_flight = replay_to_flight(name);

		if (to_file != file || to_flight != flight) {
			print_message("%s: %08x %08x, expected %08x %08x\n", name, to_file,
				      to_flight, file, flight);
			differ++;
		}
		fprintf(now, "%s %08x %08x\n", name, to_file, to_flight);
		n++;
	}
	fclose(sums);
	assert_true(n > 0);
	if (getenv("ACCEPT")) {
		int c;

		sums = fopen(SUMS, "w");
		assert_non_null(sums);
		rewind(now);
		while ((c = fgetc(now)) != EOF)
			fputc(c, sums);
		assert_int_equal(fclose(sums), 0);
	} else {
		assert_int_equal(differ, 0);
	}
	fclose(now);
}
