/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfetto_samples.h - samples of running threads, with their callstacks, in a Perfetto trace. */
#ifndef ENGINE_PERFETTO_SAMPLES_H
#define ENGINE_PERFETTO_SAMPLES_H

#include "perfetto.h"
#include "timeline/samples.h"
#include "trace/trace.h"
#include "words/names.h"

/* Set perfetto, names and trace, which must outlive it; all else zero. */
struct perfetto_samples {
	struct perfetto *perfetto;
	struct names *names;
	const struct trace *trace;
	uint32_t *frames; /* of the callstack in the making */
	size_t n_frames, cap_frames;
	bool out_of_memory; /* sticky */
};

void perfetto_put_sample(struct perfetto_samples *p, uint32_t pid, uint32_t tid,
			 const struct sample *s);
void perfetto_samples_free(struct perfetto_samples *p);

#endif /* ENGINE_PERFETTO_SAMPLES_H */
