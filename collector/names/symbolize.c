// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/host_proc.h"
#include "priority.h"

/* Some 5000 mappings; a CPU makes far fewer between two polls. */
#define SIDEBAND_RING_BYTES (512u << 10)
/* Short-lived processes: those of this long are looked at together. */
#define PAUSE_US 300u
/* So much later a process that runs a program has mapped it: who watches waits no longer. */
#define START_NS 5000000u
/* How long user names are looked up at idle priority; then, if somebody waits, in a hurry. */
#define IDLE_PRIORITY_MS 500u
#define HURRY_MS 2000u
/* What names take at the end, at most, if nothing else was said. */
#define FINISH_NS 10000000000u

/* ---- turns ----------------------------------------------------------------------------------- */

void symbolizer_poll(struct symbolizer *s)
{
	symbolize_take_in(s);
	if (s->files && s->keeps_places)
		early_detach(s);
	else if (s->files && !s->early_err)
		s->early_err = early_step(s);
	runtimes_step(s, 0);
}

bool symbolizer_is_naming(const struct symbolizer *s)
{
	return early_is_busy(s) || runtimes_is_busy(s);
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* The vdso is the same code in every process, this one included. */
static void measure_vdso(struct symbolizer *s)
{
	uint64_t addr = getauxval(AT_SYSINFO_EHDR);
	const struct image *self = images_find(s->images, host_proc_own_id(), UINT64_MAX);
	const struct mapping *m = self && addr ? image_mapping(self, addr, UINT64_MAX) : NULL;

	if (m && m->start == addr && code_files_kind(s->files, m->file) == CODE_VDSO)
		s->vdso_len = m->end - m->start;
	code_files_set_vdso(s->files, s->vdso_len);
}

static int begin(struct symbolizer *s, unsigned int parts)
{
	bool user = parts & SYMBOLIZER_USER;

	if (user && (code_files_new(&s->files) || images_new(&s->images, s->files)))
		return -ENOMEM;
	/* Before /proc is read, so that no change falls between the two. */
	s->sideband_error =
		sideband_open(&s->sideband, SIDEBAND_RING_BYTES, user && host_proc_is_here());
	if (parts & SYMBOLIZER_KERNEL && kernel_names_new(&s->kernel))
		return -ENOMEM;
	if (user) {
		procmaps_read_all(s->images, s->files);
		measure_vdso(s);
	}
	symbolizer_poll(s);
	return 0;
}

int symbolizer_new(struct symbolizer **out, struct encoder *enc, unsigned int parts)
{
	struct symbolizer *s = *out = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->enc = enc;
	s->limit.finish_ns = FINISH_NS;
	err = begin(s, parts);
	if (err) {
		symbolizer_free(s);
		*out = NULL;
	}
	return err;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_generated; i++) {
		perfmap_forget(&s->generated[i].place);
		if (s->generated[i].fd >= 0)
			close(s->generated[i].fd);
	}
	for (uint32_t i = 0; i < s->n_modules; i++)
		free(s->modules[i].name);
	sideband_close(s->sideband);
	sideband_close(s->unwatched);
	kernel_names_free(s->kernel);
	reader_close(s->jvms.reader);
	early_free(s->early);
	images_free(s->images);
	code_files_free(s->files);
	free(s->generated);
	free(s->modules);
	free(s->nameless);
	free(s->file_sources);
	free(s->frames);
	free(s->cut);
	free(s);
}

void symbolizer_read_by(struct symbolizer *s, struct helpers *readers)
{
	s->readers = readers;
}

void symbolizer_limit(struct symbolizer *s, bool later, uint64_t finish_ns)
{
	s->limit.later = later;
	if (finish_ns)
		s->limit.finish_ns = finish_ns;
}

void symbolizer_hurry(struct symbolizer *s, const volatile sig_atomic_t *asked)
{
	s->limit.hurry_was = *asked;
	s->limit.hurry = asked;
}

void symbolizer_java_maps(struct symbolizer *s, struct helpers *helpers)
{
	s->jvms.helpers = helpers;
}

void symbolizer_status(const struct symbolizer *s, int *kernel, int *sideband)
{
	*kernel = kernel_names_error(s->kernel);
	*sideband = s->sideband_error;
}

/* ---- turns and end ------------------------------------------------------------------------- */

static int name_user_frames(void *s)
{
	return symbolize_user_frames(s);
}

int symbolizer_epoll(const struct symbolizer *s)
{
	return s->sideband && s->images ? sideband_epoll(s->sideband) : -1;
}

void symbolizer_on_replace(struct symbolizer *s, void (*fn)(void *ctx, uint32_t tgid), void *ctx)
{
	s->on_replace = fn;
	s->on_replace_ctx = ctx;
}

void symbolizer_watch(struct symbolizer *s, const struct process_watch *w, void *ctx)
{
	s->watch = w;
	s->watch_ctx = ctx;
	if (s->images)
		images_each_mapping(s->images, w->mapped, ctx);
}

struct telling {
	const struct symbolizer *s;
	bool (*is_wanted)(const void *ctx, const struct mapping *m);
};

static bool is_to_be_told(const void *telling, const struct mapping *m)
{
	const struct telling *t = telling;

	return t->is_wanted(t->s->watch_ctx, m);
}

static void tell_mapped(void *telling, const struct image *i, const struct mapping *m)
{
	const struct telling *t = telling;

	if (!i->ended)
		t->s->watch->mapped(t->s->watch_ctx, i->tgid, m);
}

void symbolizer_tell_mapped(struct symbolizer *s,
			    bool (*is_wanted)(const void *ctx, const struct mapping *m))
{
	struct telling t = { s, is_wanted };

	if (s->watch && s->images)
		images_each_mapping_of(s->images, is_to_be_told, tell_mapped, &t);
}

void symbolizer_stable_range(const struct symbolizer *s, uint64_t *from_ns, uint64_t *until_ns)
{
	*from_ns = s->replaced_ns;
	*until_ns = s->polled_ns;
}

void symbolizer_wait(struct symbolizer *s, int timeout_ms)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t end_ns = now_ns + (uint64_t)timeout_ms * 1000000u;

	for (; now_ns < end_ns; now_ns = clock_now_ns()) {
		int left_ms = (int)((end_ns - now_ns + 999999u) / 1000000u);
		bool others;

		if (!s->sideband || !s->images) {
			poll(NULL, 0, left_ms);
			return;
		}
		if (!sideband_wait(s->sideband, left_ms, &others) || others)
			return;
		symbolizer_poll(s);
		now_ns = clock_now_ns();
		if (s->watch && end_ns > now_ns + START_NS)
			end_ns = now_ns + START_NS;
		if (usleep(PAUSE_US))
			return; /* a signal */
	}
}

uint64_t symbolizer_sideband_lost(const struct symbolizer *s)
{
	return s->sideband ? sideband_lost(s->sideband) : 0;
}

void symbolizer_write_to(struct symbolizer *s, struct encoder *enc)
{
	/* In a process forked to write, the rings are not mapped. */
	s->unwatched = s->sideband;
	s->sideband = NULL;
	s->enc = enc;
	s->n_frames = 0;
	s->n_nameless = 0;
	s->n_modules = 0;
	/* The one that is being asked is asked again. */
	reader_close(s->jvms.reader);
	s->jvms.reader = NULL;
	memset(&s->noted, 0, sizeof(s->noted));
	s->stats = (struct symbolizer_stats) { 0 };
}

int symbolizer_finish(struct symbolizer *s, struct symbolizer_stats *stats)
{
	uint64_t start_ns = clock_now_ns();
	int err;

	s->limit.until_ns = start_ns + s->limit.finish_ns;
	symbolizer_poll(s);
	early_end(s);
	runtimes_end(s);
	runtimes_write_maps(s);
	err = s->early_err;
	if (!err)
		err = symbolize_kernel_frames(s);
	if (!err)
		err = priority_run_low(name_user_frames, s, IDLE_PRIORITY_MS,
				       s->unwatched ? 0 : HURRY_MS);
	if (!err)
		err = notes_put_late(s);
	s->stats.sideband_lost = s->sideband ? sideband_lost(s->sideband) : 0;
	s->stats.processes = s->images ? (uint32_t)images_made(s->images) : 0;
	s->stats.lookup_us = (clock_now_ns() - start_ns) / 1000;
	if (stats)
		*stats = s->stats;
	return err;
}
