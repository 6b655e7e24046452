// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that reads a JVM. It has no rights, because what it reads may take it over. */
#include "jvms_private.h"

#include <errno.h>

#include "helper/sandbox.h"

#define MEMORY_MAX_BYTES (16u << 20)
/* One that has just begun may have nothing yet. */
#define TRIES_MAX 16u

struct process {
	struct jvm *jvm; /* NULL: not known */
	int memory;
	uint64_t at[2];
	uint32_t tries;
};

static int find(struct process *p, const struct jvms_request *q, struct jvms_answer *a)
{
	int err = 0;

	if (!p->jvm && p->tries < TRIES_MAX) {
		err = jvm_open(&p->jvm, p->memory, p->at[0], p->at[1]);
		p->tries++;
	}
	a->is_unknown = !p->jvm && p->tries == TRIES_MAX;
	if (!p->jvm)
		return a->is_unknown ? err : -EAGAIN;
	switch ((enum jvms_op)q->op) {
	case JVMS_CHANGES:
		a->has_changed = jvm_has_changed(p->jvm);
		return 0;
	case JVMS_METHOD:
		a->n = 1;
		return jvm_find_method(p->jvm, q->at[0], (uint32_t)q->at[1], &a->frames[0])
			       ? 0
			       : -ENOENT;
	default:
		return jvm_find_frame(p->jvm, q->at[0], q->op == JVMS_EXACT, a->frames, &a->n);
	}
}

static void take(int socket, void *message, size_t len, int fd)
{
	static struct process process;
	const struct jvms_request *q = message;
	struct jvms_answer a = { 0 };

	if (len != sizeof(*q) || (q->op == JVMS_OPEN) != (fd >= 0))
		helper_fail();
	if (q->op == JVMS_OPEN) {
		process = (struct process) { .memory = fd, .at = { q->at[0], q->at[1] } };
		return;
	}
	a.serial = q->serial;
	a.err = find(&process, q, &a);
	if (sandbox_send(socket, &a, sizeof(a), -1) != sizeof(a))
		helper_fail();
}

/* What is left to free goes with the process. */
static void serve(int socket)
{
	helper_serve(socket, take);
}

const struct helper_kind jvms_kind = {
	.name = "chaincap-jvm",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = JVMS_CPU_SECONDS,
	.serve = serve,
	.memory_parts = 4,
};
