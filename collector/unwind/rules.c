// SPDX-License-Identifier: GPL-2.0-or-later
#include "rules_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/codefile.h"
#include "kernel/clock.h"
#include "helper/call_timeout.h"
#include "helper/wait_budget.h"
#include "unwind/cfi.h"

/* Of files of as many owners, or on as many file systems. */
#define PROCESSES_MAX 8u
/* One that does not answer for this long is ended. */
#define HANGS_NS 5000000000u
/* A file that crashed its readers as often has no rules. */
#define DEATHS_MAX 2u
#define QUESTIONS 64u
/*
 * An answer takes some 10 us, on a busy machine milliseconds, the first one of a file on a cold
 * disk 100 ms: it is not waited for as long, but asked for again.
 */
#define WAIT_MAX_NS 5000000u
/* A process has the recorder's priority, but not for more than this with one question. */
#define HURRY_NS 100000000u
/*
 * So soon after a process was ended that had not answered, no other one gets files of its owner on
 * its file system: it may hang there, which is known only when it does not end.
 */
#define ENDED_LATE_NS 300000000u
#define ENDED_LATE_MAX 64u
/* A file that is not to be searched for a while is asked for again after this time. */
#define AGAIN_NS 20000000u

struct question {
	struct rules_file *file; /* NULL: it was closed */
	uint64_t offset, asked_ns;
	uint32_t serial;
	bool of_call;
};

struct process {
	bool has_owner;	      /* false: it was started for the first who comes, */
	struct rules_file of; /* then for files like this one, or for it alone */
	struct helper helper;
	uint64_t asked_ns; /* the last time */
	/* A ring of those without an answer; answers come in their order. */
	struct question questions[QUESTIONS];
	uint32_t first, n;
};

struct ended_late {
	struct rules_file of;
	uint64_t at_ns;
};

struct rules {
	struct helpers *helpers;
	const struct helper_kind *kind;
	rules_answer_fn on_answer;
	void *ctx;
	struct process processes[PROCESSES_MAX];
	struct ended_late ended_late[ENDED_LATE_MAX];
	uint32_t n_ended_late;
	uint32_t last_request;
	struct wait_budget budget;
	uint64_t restarts, late;
};

/* ---- processes ----------------------------------------------------------------------------- */

static struct process *start(struct rules *r, struct process *p)
{
	*p = (struct process) { 0 };
	return helper_start(&p->helper, r->helpers, r->kind, HELPER_FOLLOWS) ? NULL : p;
}

static void end(struct rules *r, struct process *p)
{
	/* One that has not answered may hang in the file system that all its files are on. */
	if (p->n) {
		helper_end_late(&p->helper, call_key_device(p->of.major, p->of.minor));
		r->ended_late[r->n_ended_late++ % ENDED_LATE_MAX] =
			(struct ended_late) { p->of, clock_now_ns() };
	} else {
		helper_end(&p->helper);
	}
	*p = (struct process) { 0 };
}

/* It died, or is ended because it hangs: the file that it was reading may be the reason. */
static void lose(struct rules *r, struct process *p)
{
	if (p->n && p->questions[p->first].file)
		p->questions[p->first].file->deaths++;
	r->restarts++;
	end(r, p);
}

int rules_new(struct rules **out, struct helpers *helpers, const struct helper_kind *kind,
	      rules_answer_fn on_answer, void *ctx)
{
	struct rules *r = *out = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->helpers = helpers;
	r->kind = kind;
	r->on_answer = on_answer;
	r->ctx = ctx;
	/* Starting takes milliseconds on a busy machine. */
	(void)start(r, &r->processes[0]);
	return 0;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < PROCESSES_MAX; i++)
		end(r, &r->processes[i]);
	free(r);
}

static bool is_running(const struct process *p)
{
	return p->helper.all;
}

static bool is_same_owner(const struct rules_file *a, const struct rules_file *b)
{
	return a->owner == b->owner && a->root == b->root;
}

static bool is_on_same_device(const struct rules_file *a, const struct rules_file *b)
{
	return is_same_owner(a, b) && a->major == b->major && a->minor == b->minor;
}

static bool was_ended_late(const struct rules *r, const struct rules_file *f)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < ENDED_LATE_MAX; i++) {
		const struct ended_late *e = &r->ended_late[i];

		if (e->at_ns && now_ns - e->at_ns < ENDED_LATE_NS && is_on_same_device(&e->of, f))
			return true;
	}
	return false;
}

static bool is_for(const struct process *p, const struct rules_file *f)
{
	return is_running(p) && p->has_owner && is_on_same_device(&p->of, f) &&
	       p->of.inode == f->inode;
}

/*
 * Rather a fresh process is taken for the file, then a free place, then the process of the owner
 * who has most of them, or would have with one more for the file: who has many files that need one
 * each takes it from himself.
 */
static unsigned int rank_of(const struct rules *r, const struct process *p,
			    const struct rules_file *f)
{
	unsigned int n = is_same_owner(&p->of, f);

	if (!p->has_owner)
		return 2 * PROCESSES_MAX + is_running(p);
	for (const struct process *o = r->processes; o < r->processes + PROCESSES_MAX; o++)
		n += o->has_owner && is_same_owner(&o->of, &p->of);
	return n;
}

/* Of several the one that was idle for longest. */
static struct process *place_for(struct rules *r, const struct rules_file *f)
{
	struct process *place = &r->processes[0];
	unsigned int rank = rank_of(r, place, f);

	for (struct process *p = place + 1; p < r->processes + PROCESSES_MAX; p++) {
		unsigned int n = rank_of(r, p, f);

		if (n < rank || (n == rank && p->asked_ns >= place->asked_ns))
			continue;
		rank = n;
		place = p;
	}
	return place;
}

/* The process for the file, started if need be; NULL: it cannot be. */
static struct process *process_for(struct rules *r, const struct rules_file *f)
{
	struct process *p;

	for (p = r->processes; p < r->processes + PROCESSES_MAX; p++)
		if (is_for(p, f))
			return p;
	p = place_for(r, f);
	if (is_running(p) && p->has_owner)
		end(r, p);
	if (!is_running(p) && !start(r, p))
		return NULL;
	p->has_owner = true;
	p->of = *f;
	p->asked_ns = clock_now_ns();
	return p;
}

static struct process *process_of(struct rules *r, const struct rules_file *f)
{
	for (uint32_t i = 0; f->process && i < PROCESSES_MAX; i++)
		if (r->processes[i].helper.id == f->process)
			return &r->processes[i];
	return NULL;
}

/* ---- answers, which may be hostile --------------------------------------------------------- */

static bool is_sane_rule(const struct unwind_rule *r)
{
	return r->kind <= UNWIND_HARD && r->cfa_register < UNWIND_REGISTERS &&
	       r->ra_register < UNWIND_REGISTERS;
}

static bool is_sane(const struct rules_window *w, uint64_t offset)
{
	uint64_t at = offset % RULES_WINDOW;

	if (!w->n)
		return true;
	if (w->n > RULES_ROWS_MAX || w->from > at || w->to <= at || w->to > RULES_WINDOW ||
	    w->starts[0] != w->from)
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		if (!is_sane_rule(&w->rules[i]) || w->starts[i] >= w->to ||
		    (i && w->starts[i] <= w->starts[i - 1]))
			return false;
	return true;
}

/* The answer to the first question. Returns 0; -EAGAIN: none yet; or -EPIPE. */
static int receive(struct process *p, struct rules_answer *a, uint64_t wait_ns)
{
	ssize_t n = helper_receive(&p->helper, a, sizeof(*a), NULL, wait_ns);

	if (n == -EAGAIN)
		return -EAGAIN;
	return n == sizeof(*a) && a->serial == p->questions[p->first].serial ? 0 : -EPIPE;
}

/*
 * Takes all answers that have come; each is waited for that long. Returns 0; -EAGAIN: there are
 * more to come; or -ENOTCONN.
 */
static int take_answers(struct rules *r, struct process *p, uint64_t wait_ns)
{
	struct rules_answer a;
	struct question q;
	int err = 0;

	while (p->n && !(err = receive(p, &a, wait_ns))) {
		q = p->questions[p->first];
		if (a.bytes > CFI_MAX_BYTES || !is_sane(&a.window, q.offset)) {
			err = -EPIPE;
			break;
		}
		p->first = (p->first + 1) % QUESTIONS;
		p->n--;
		if (!q.file)
			continue;
		q.file->bytes = a.bytes;
		if (a.err == -EAGAIN) {
			q.file->again_ns = clock_now_ns() + AGAIN_NS;
			continue;
		}
		r->on_answer(r->ctx, q.file, q.offset, q.of_call ? NULL : &a.window, a.is_it);
	}
	if (err == -EPIPE) {
		lose(r, p);
		return -ENOTCONN;
	}
	return err;
}

void rules_poll(struct rules *r)
{
	for (struct process *p = r->processes; p < r->processes + PROCESSES_MAX; p++) {
		uint64_t late_ns;

		if (!p->n || take_answers(r, p, 0) != -EAGAIN)
			continue;
		late_ns = clock_now_ns() - p->questions[p->first].asked_ns;
		if (late_ns > HANGS_NS)
			lose(r, p);
		else if (late_ns > HURRY_NS && p->helper.nice < 0)
			helper_set_nice(&p->helper, 0);
	}
}

/* ---- asking -------------------------------------------------------------------------------- */

static int say(struct rules *r, struct process *p, enum rules_op op, const struct rules_file *f,
	       uint64_t offset, int fd)
{
	struct rules_request q = {
		.op = op,
		.serial = ++r->last_request,
		.file = f->index,
		.offset = offset,
	};

	return helper_send(&p->helper, &q, sizeof(q), fd);
}

int rules_open(struct rules *r, struct rules_file *f, int fd)
{
	struct statx st;
	struct process *p;

	if (f->deaths >= DEATHS_MAX)
		return -EIO;
	/* What is known already: the file system is not asked again. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID | STATX_MODE | STATX_INO,
		  &st))
		return -errno;
	f->major = st.stx_dev_major;
	f->minor = st.stx_dev_minor;
	f->owner = st.stx_uid;
	f->inode =
		f->root == CODE_ROOTS_SEVERAL || st.stx_mode & (S_IWGRP | S_IWOTH) ? st.stx_ino : 0;
	if (helpers_hang(r->helpers, call_key_device(f->major, f->minor)))
		return -EIO;
	if (was_ended_late(r, f))
		return -EBUSY;
	p = process_for(r, f);
	if (!p)
		return -EPIPE;
	if (say(r, p, RULES_OPEN, f, 0, fd)) {
		lose(r, p);
		return -EPIPE;
	}
	f->process = p->helper.id;
	return 0;
}

void rules_close(struct rules *r, struct rules_file *f)
{
	struct process *p = process_of(r, f);

	for (uint32_t i = 0; p && i < p->n; i++) {
		struct question *q = &p->questions[(p->first + i) % QUESTIONS];

		if (q->file == f)
			q->file = NULL;
	}
	if (p && say(r, p, RULES_CLOSE, f, 0, -1))
		end(r, p);
	f->process = 0;
}

/* In a long recording. If it died of its limit, the file that it reads would be blamed. */
static bool is_used_up(const struct process *p)
{
	return !p->n && helper_cpu_ns(&p->helper) > RULES_CPU_SECONDS * UINT64_C(1000000000) / 2;
}

static bool is_asked(const struct process *p, const struct question *q)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct question *o = &p->questions[(p->first + i) % QUESTIONS];

		if (o->file == q->file && o->offset == q->offset && o->of_call == q->of_call)
			return true;
	}
	return false;
}

/* Waits for the one answer that is to come. Returns as take_answers(). */
static int wait_for_answer(struct rules *r, struct process *p)
{
	uint64_t wait_ns = wait_budget_now(&r->budget);
	int err = take_answers(r, p, wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS);

	wait_budget_spend(&r->budget);
	return err;
}

int rules_ask(struct rules *r, struct rules_file *f, uint64_t offset, bool of_call)
{
	struct question q = { f, offset, clock_now_ns(), 0, of_call };
	struct process *p = process_of(r, f);
	int err;

	if (f->deaths >= DEATHS_MAX)
		return -EIO;
	if (!p)
		return -ENOTCONN;
	if (p->n == QUESTIONS || is_asked(p, &q) || f->again_ns > q.asked_ns)
		return -EAGAIN;
	if (is_used_up(p)) {
		end(r, p);
		return -ENOTCONN;
	}
	p->asked_ns = q.asked_ns;
	if (say(r, p, of_call ? RULES_CALL : RULES_FIND, f, offset, -1)) {
		lose(r, p); /* it was dead before */
		return -ENOTCONN;
	}
	q.serial = r->last_request;
	p->questions[(p->first + p->n++) % QUESTIONS] = q;
	/* One that has others to answer is late already. */
	err = p->n == 1 ? wait_for_answer(r, p) : -EAGAIN;
	if (!err && f->again_ns > q.asked_ns)
		err = -EAGAIN;
	r->late += err == -EAGAIN;
	return err;
}

void rules_trouble(const struct rules *r, uint64_t *restarts, uint64_t *late)
{
	*restarts = r->restarts;
	*late = r->late;
}
