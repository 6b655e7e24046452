// SPDX-License-Identifier: GPL-2.0-or-later
#include "io_limits.h"

#include "base/kernel_functions.h"

/* The requests for which a thread waited are its own. */
static void take_own(struct timelines *tl, uint32_t thread)
{
	const struct thread *th = &tl->threads[thread];

	for (uint32_t i = 0; i < th->n_waits; i++) {
		uint32_t number = timelines_pair(tl, th->waits[i].waker_stack).request;
		struct disk_request *r;

		if (th->waits[i].kind != WAIT_SLEEP || !number)
			continue;
		r = &tl->disk_requests.at[number - 1];
		if (timelines_disk_request_kind(tl, r->kind).held)
			r->thread = thread;
	}
}

void io_limits_find(struct timelines *tl, struct kernel_stacks *k)
{
	struct disk_requests *all = &tl->disk_requests;
	bool any = false;

	for (size_t i = 0; i < all->n; i++) {
		struct disk_request *r = &all->at[i];
		uint32_t kstack = timelines_pair(tl, r->pair).kstack;

		if (!(kernel_stack_flags(k, kstack, UINT32_MAX) & KFUNC_IO_LIMIT))
			continue;
		disk_requests_hold(all, r);
		any = true;
	}
	/* If several waited for one, it is that of the first of them. */
	for (uint32_t i = timelines_threads(tl); i > 0 && any; i--)
		take_own(tl, i - 1);
}
