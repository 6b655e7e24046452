// SPDX-License-Identifier: GPL-2.0-or-later
#include "told_names.h"

#include <string.h>

/* A link with less than one of so many parts of its chain's time is not told of. */
#define LEAST_PART 20

static int add(const struct format_input *in, const char *name)
{
	struct word_list *told = &in->totals->told;

	return word_list_has(told, name) ? 0 : word_list_add(told, name, strlen(name));
}

static int add_steps(const struct format_input *in, const struct names *names,
		     const struct chain_steps *steps)
{
	uint32_t n;
	const struct chain_step *at = chain_steps_list(steps, &n);
	int err = 0;

	for (uint32_t i = 1; i < n && !err; i++)
		if (at[i].who && LEAST_PART * at[i].ns >= chain_steps_total_ns(steps))
			err = add(in, names_text(names, at[i].who));
	return err;
}

int told_names_add_subjects(const struct format_input *in, const struct subjects *s)
{
	int err = 0;

	if (!in->totals)
		return 0;
	in->totals->tells = true;
	for (size_t i = 0; i < s->n && !err; i++) {
		const struct subject *of = &s->at[i];

		if (of->requests)
			err = add(in, trace_string(in->trace, of->requests->endpoint->process));
		if (!err && of->steps)
			err = add_steps(in, s->names, of->steps);
	}
	return err;
}

int told_names_add_causes(const struct format_input *in, struct names *names,
			  const struct cause *causes, size_t n)
{
	int err = 0;

	if (!in->totals)
		return 0;
	in->totals->tells = true;
	for (size_t i = 0; i < n && !err; i++) {
		const struct chosen_wait *e = &causes[i].example;
		uint32_t name = names_thread(names, e->thread, e->wait->out_ns);

		err = add(in, names_text(names, causes[i].who));
		if (!err)
			err = add(in, names_text(names, name));
	}
	return err;
}
