// SPDX-License-Identifier: GPL-2.0-or-later
/* Which options go together: what could only be ignored is an error, the user meant something. */
#include <errno.h>
#include <string.h>

#include "format.h"
#include "options_private.h"

static int check_format_takes(struct parser *p, const int *opts, size_t n_opts)
{
	const unsigned int not_in_wakeup =
		GIVEN_DEPTH | GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_NO_ENDS;
	const struct options *o = p->o;
	const struct format *f = format_find(o->format);
	bool wakeup = o->view == VIEW_WAKEUP;
	char name[32];

	for (size_t i = 0; i < n_opts; i++) {
		options_name(opts[i], name, sizeof(name));
		if (f->refuses & options_given_bit(opts[i]))
			return options_complain(p, "%s has no meaning with --format=%s", name,
						f->name);
		if (wakeup && (not_in_wakeup & options_given_bit(opts[i])))
			return options_complain(p, "%s has no meaning with --view wakeup", name);
	}
	if ((wakeup || f->blocked_only) && o->given & GIVEN_PARTS && o->parts != PART_BLOCKED)
		return options_complain(
			p, "%s%s shows blocked time: no other part can be chosen by --state",
			wakeup ? "--view wakeup" : "--format=", wakeup ? "" : f->name);
	if (o->given & GIVEN_TOP && !strcmp(f->name, "hist") && !o->by_name)
		return options_complain(p,
					"--top has no meaning with --format=hist unless --by-name");
	return 0;
}

static int check_together(struct parser *p)
{
	const struct options *o = p->o;

	if (!o->kernel && !o->user)
		return options_complain(p, "-K and -U exclude each other");
	if (o->quiet && o->verbose)
		return options_complain(p, "-q and -v exclude each other");
	if (o->from_ns >= o->to_ns)
		return options_complain(p, "--to is not after --from");
	if (o->min_wait_ns > o->max_wait_ns)
		return options_complain(p, "--min-wait is more than --max-wait");
	return 0;
}

/* Several traces, and the frame that tells them apart. */
static int check_traces(struct parser *p)
{
	const struct options *o = p->o;
	const struct format *f = format_find(o->format);
	size_t n_stdin = 0;

	if (o->given & GIVEN_ROOT && f->several != SEVERAL_MERGED && f->several != SEVERAL_KEYED)
		return options_complain(p, "--root has no meaning with --format=%s", f->name);
	if (o->n_traces > 1 && f->several == SEVERAL_REFUSED)
		return options_complain(p,
					"--format=%s shows one trace at a time: '%s' is one too "
					"many",
					f->name, o->traces[1]);
	for (size_t i = 0; i < o->n_traces; i++)
		n_stdin += !strcmp(o->traces[i], "-");
	if (n_stdin > 1)
		return options_complain(p, "standard input can be read but once");
	return 0;
}

int options_check(struct parser *p, const int *opts, size_t n_opts)
{
	int err = check_format_takes(p, opts, n_opts);

	if (!err)
		err = check_together(p);
	return err ? err : check_traces(p);
}
