// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_filter.h"

#include <errno.h>

static bool is_chosen(struct wait_filter *f, const struct timelines *tl, const struct options *o,
		      const struct disk_request *r)
{
	if (r->thread == THREAD_NONE)
		return !(o->given & GIVEN_WHO) && !o->command && !o->no_kthreads;
	return wait_filter_thread(f, r->thread) &&
	       wait_filter_fits(f, timelines_name(tl, r->thread, r->asked_ns));
}

int disk_filter_walk(const struct timelines *tl, const struct options *o, struct names *names,
		     int (*take)(void *arg, const struct disk_request *r), void *arg)
{
	struct wait_filter *f = wait_filter_new(tl, o, names);
	const struct disk_request *at;
	uint64_t from_ns, to_ns;
	size_t n;
	int err = 0;

	if (!f)
		return -ENOMEM;
	wait_filter_window(f, &from_ns, &to_ns);
	at = timelines_disk_requests(tl, &n);
	for (size_t i = 0; i < n && !err; i++)
		if (at[i].done_ns >= from_ns && at[i].done_ns < to_ns &&
		    is_chosen(f, tl, o, &at[i]))
			err = take(arg, &at[i]);
	wait_filter_free(f);
	return err;
}
