// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_requests.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "cpus.h"

/* Has no padding. A thread asks for one thing at a time. */
struct asked_key {
	uint64_t ns, tid;
};

void disk_requests_ask(struct disk_requests *r, uint32_t tid, uint64_t asked_ns, uint32_t thread,
		       uint32_t pair)
{
	struct asked_key key = { asked_ns, tid };
	uint32_t id = xintern(&r->asked, &key, sizeof(key), NULL);

	XGROW(r->askers, id, r->cap_askers);
	r->askers[id] = (struct disk_request) { .thread = thread, .pair = pair };
}

void disk_requests_done(struct disk_requests *r, uint32_t tid, const struct disk_request *done,
			struct disk_request_kind kind)
{
	struct asked_key key = { done->asked_ns, tid };
	uint32_t id = tid ? intern_find(&r->asked, &key, sizeof(key)) : 0;
	struct disk_request *p;

	XGROW(r->at, r->n, r->cap);
	p = &r->at[r->n++];
	*p = *done;
	p->pair = 0;
	if (id) {
		p->pair = r->askers[id].pair;
		if (r->askers[id].thread != THREAD_NONE)
			p->thread = r->askers[id].thread;
	}
	p->kind = pairs_id(&r->kinds, kind.disk, kind.op);
}

/* In the second number of a kind's pair: the operation, HELD, and the group times this. */
#define HELD 8u
#define GROUP 16u

void disk_requests_hold(struct disk_requests *r, struct disk_request *held)
{
	struct pair kind = r->kinds.at[held->kind];
	uint32_t group = held->group < UINT32_MAX / GROUP ? held->group : 0;

	held->kind = pairs_id(&r->kinds, kind.a, (kind.b & (HELD - 1)) | HELD | group * GROUP);
}

struct disk_request_kind disk_requests_kind(const struct disk_requests *r, uint32_t kind)
{
	struct pair p = r->kinds.at[kind];

	return (struct disk_request_kind) { p.a, p.b & (HELD - 1), p.b & HELD, p.b / GROUP };
}

void disk_requests_finish(struct disk_requests *r)
{
	intern_free(&r->asked);
	free(r->askers);
	r->askers = NULL;
	r->cap_askers = 0;
}

void disk_requests_free(struct disk_requests *r)
{
	disk_requests_finish(r);
	free(r->at);
	pairs_free(&r->kinds);
}
