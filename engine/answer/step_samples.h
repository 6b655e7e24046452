/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_samples.h - what a thread ran, by the samples of a step (chain_steps.h). */
#pragma once

#include "attribute/sums.h"
#include "words/names.h"

/* Texts; 0: not known. */
struct step_ran {
	uint32_t at;   /* where in the program's own code all of it was */
	uint32_t call; /* what most of it was in the kernel for: "core dumps" */
};

/* Of n stack pairs with so many samples each. */
void step_samples_say(struct step_ran *out, struct names *names, const struct trace *t,
		      const struct sum *of, size_t n);
