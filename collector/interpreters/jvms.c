// SPDX-License-Identifier: GPL-2.0-or-later
#include "jvms_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/types.h>

#include "chainwire.h"
#include "common/intern.h"
#include "files/owners.h"
#include "files/process_status.h"
#include "files/runtimes.h"
#include "helper/wait_budget.h"
#include "kernel/clock.h"

#define JVMS_MAX 32u
/* Who crashed its readers as often is not read any more. */
#define DEATHS_MAX 3u
/* An answer takes some 50 us, the first one of a JVM 10 ms; on a busy machine longer. */
#define WAIT_MAX_NS 20000000u
/* One that does not answer for this long is ended. */
#define HANGS_NS 5000000000u
/* How often it is asked what has changed. */
#define CHANGES_NS 100000000u
#define KNOWN_MAX (1u << 13)
/* Where two frames that are seen all the time had one place, each would be asked for each time. */
#define KNOWN_WAYS 8u
/* More names, or longer ones in all, are forgotten, and asked for again. */
#define NAMES_MAX (1u << 16)
#define NAMES_BYTES_MAX (1u << 23)
#define FRAME_BYTES_MAX (1 << 20)

/* What is at an address, of the JVM with this serial number. */
struct known {
	uint64_t serial, at; /* serial 0: free; at: wire_is_exact(), wire_is_java_method() */
	struct jvm_rule rule;
	bool is_missing;
	uint32_t n;
	uint32_t names[JVM_DEPTH]; /* ids of struct jvms; 0: not known */
	uint32_t lines[JVM_DEPTH];
};

struct process {
	uint32_t tgid; /* 0: free */
	uint32_t owner, deaths;
	uint64_t serial; /* another one after each change */
	bool is_unknown;
	struct wire_interpreter at;
	struct helper helper;
	/* The question that has no answer yet, if serial is not 0. */
	struct jvms_request asked;
	uint64_t question, asked_ns, changes_ns;
};

struct jvms {
	struct helpers *helpers;
	const struct interpreters *in;
	jvms_changed_fn changed;
	void *ctx;
	uint64_t last_serial;
	uint32_t last_request;
	struct wait_budget budget;
	struct owners owners;
	struct process processes[JVMS_MAX];
	struct known known[KNOWN_MAX];
	/* 'm' of a method, else ' '; its function, 0, its file. */
	struct intern names;
	uint32_t names_before; /* those that were forgotten */
};

int jvms_new(struct jvms **out, struct helpers *helpers, const struct interpreters *in,
	     jvms_changed_fn changed, void *ctx)
{
	struct jvms *j = *out = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->helpers = helpers;
	j->in = in;
	j->changed = changed;
	j->ctx = ctx;
	return 0;
}

static void end(struct process *p)
{
	helper_end(&p->helper);
	p->asked.serial = 0;
}

void jvms_free(struct jvms *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < JVMS_MAX; i++)
		end(&j->processes[i]);
	intern_free(&j->names);
	free(j);
}

/* ---- processes ------------------------------------------------------------------------------ */

static const struct wire_interpreter *java_of(const struct jvms *j, uint32_t tgid)
{
	const struct wire_interpreter *at = interpreters_of(j->in, tgid);

	return at && at->language == WIRE_JAVA ? at : NULL;
}

static void drop(struct jvms *j, struct process *p)
{
	end(p);
	owners_give(&j->owners, p->owner, 1);
	*p = (struct process) { 0 };
}

/* NULL: there is no room. */
static struct process *add(struct jvms *j, uint32_t tgid, const struct wire_interpreter *at)
{
	uint32_t owner = owners_find(&j->owners, process_owner_key(tgid));

	for (struct process *p = j->processes; p < j->processes + JVMS_MAX; p++) {
		if (p->tgid)
			continue;
		if (!owners_take(&j->owners, owner, 1, JVMS_MAX))
			return NULL;
		*p = (struct process) {
			.tgid = tgid, .owner = owner, .serial = ++j->last_serial, .at = *at
		};
		return p;
	}
	return NULL;
}

static bool is_of(const struct process *p, const struct wire_interpreter *at)
{
	return p->at.root == at->root && p->at.gil == at->gil;
}

static int find_process(struct jvms *j, uint32_t tgid, struct process **out)
{
	const struct wire_interpreter *at = java_of(j, tgid);

	if (!at)
		return -ESRCH;
	for (struct process *p = j->processes; p < j->processes + JVMS_MAX; p++) {
		if (p->tgid != tgid)
			continue;
		if (is_of(p, at)) {
			*out = p;
			return p->is_unknown ? -ENOENT : 0;
		}
		drop(j, p);
	}
	*out = add(j, tgid, at);
	return *out ? 0 : -ENOENT;
}

/* A process that reads it. */
static int start(struct jvms *j, struct process *p)
{
	struct jvms_request q = { .op = JVMS_OPEN, .at = { p->at.root, p->at.gil } };
	int memory, err;

	if (p->helper.all)
		return 0;
	if (p->deaths >= DEATHS_MAX)
		return -ENOENT;
	memory = runtime_memory(p->tgid);
	if (memory < 0)
		return memory;
	err = helper_start(&p->helper, j->helpers, &jvms_kind, HELPER_FOLLOWS);
	if (!err)
		err = helper_send(&p->helper, &q, sizeof(q), memory);
	close(memory);
	return err;
}

/* What the next one has not found itself it does not watch. */
static void end_watching(struct jvms *j, struct process *p)
{
	end(p);
	p->serial = ++j->last_serial;
	j->changed(j->ctx, p->tgid);
}

static void lose(struct jvms *j, struct process *p)
{
	p->deaths++;
	end_watching(j, p);
}

/* ---- what is known --------------------------------------------------------------------------- */

static uint64_t hash(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static struct known *known_set(struct jvms *j, const struct process *p, uint64_t at)
{
	return &j->known[hash(p->serial, at) % (KNOWN_MAX / KNOWN_WAYS) * KNOWN_WAYS];
}

/* NULL: it is not known. */
static struct known *known_at(struct jvms *j, const struct process *p, uint64_t at)
{
	struct known *set = known_set(j, p, at);

	for (struct known *k = set; k < set + KNOWN_WAYS; k++)
		if (k->serial == p->serial && k->at == at)
			return k;
	return NULL;
}

/* Whose place it gets: the oldest serial number's, or else one that is as good as another. */
static struct known *known_to_be(struct jvms *j, const struct process *p, uint64_t at)
{
	struct known *set = known_set(j, p, at), *k = set + j->last_request % KNOWN_WAYS;

	for (uint32_t i = 0; i < KNOWN_WAYS; i++)
		if (set[i].serial < k->serial)
			k = set + i;
	return k;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Before an answer is taken: what is known has the names' ids, so all of it is asked for again. */
static void make_room(struct jvms *j)
{
	if (j->names.n + JVM_DEPTH <= NAMES_MAX && j->names.n_bytes <= NAMES_BYTES_MAX)
		return;
	j->names_before += j->names.n;
	intern_clear(&j->names);
	for (struct process *p = j->processes; p < j->processes + JVMS_MAX; p++)
		p->serial = ++j->last_serial;
}

static uint32_t name_of(struct jvms *j, const struct jvm_frame *f)
{
	char text[1 + JVM_NAME_BYTES + JVM_FILE_BYTES] = { f->is_method ? 'm' : ' ' };
	size_t len = strlen(f->name) + 1, file_len = strlen(f->file);

	if (!*f->name)
		return 0;
	memcpy(text + 1, f->name, len);
	memcpy(text + 1 + len, f->file, file_len);
	return intern_id(&j->names, text, 1 + len + file_len, NULL);
}

static struct jvms_name name_at(const struct jvms *j, uint32_t id, uint32_t line)
{
	const char *text = intern_text(&j->names, id);

	if (!id)
		return (struct jvms_name) { .function = text, .file = text };
	return (struct jvms_name) {
		.function = text + 1,
		.file = text + 1 + strlen(text + 1) + 1,
		.line = line,
		.id = (j->names_before + id) % JVMS_IDS,
		.is_method = *text == 'm',
	};
}

/* ---- answers, which may be hostile ----------------------------------------------------------- */

static bool is_sane_rule(const struct jvm_rule *r)
{
	if (r->kind == JVM_CUT || r->kind == JVM_INTERPRETED)
		return true;
	return (r->kind == JVM_BY_SP || r->kind == JVM_BY_FP || r->kind == JVM_GIVEN_UP) &&
	       r->bytes >= 8 && r->bytes <= FRAME_BYTES_MAX && r->saves_fp <= 1 &&
	       r->pc_at < (uint32_t)r->bytes;
}

static bool is_sane_frame(const struct jvm_frame *f)
{
	return !f->name[sizeof(f->name) - 1] && !f->file[sizeof(f->file) - 1] &&
	       f->is_method <= 1 && f->line <= UINT16_MAX;
}

static bool is_sane(const struct jvms_answer *a, const struct jvms_request *q)
{
	if (a->serial != q->serial || (a->err && a->err != -ENOENT && a->err != -EAGAIN))
		return false;
	if (a->err || q->op == JVMS_CHANGES)
		return true;
	if (!a->n || a->n > JVM_DEPTH ||
	    (q->op != JVMS_METHOD && !is_sane_rule(&a->frames[0].rule)))
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!is_sane_frame(&a->frames[i]))
			return false;
	return true;
}

static void take(struct jvms *j, struct process *p, const struct jvms_answer *a)
{
	struct known *k;

	p->asked.serial = 0;
	p->is_unknown |= a->is_unknown;
	if (p->is_unknown) { /* nothing more is asked of it */
		end(p);
		return;
	}
	if (p->asked.op == JVMS_CHANGES) {
		if (a->has_changed) {
			p->serial = ++j->last_serial;
			j->changed(j->ctx, p->tgid);
		}
		return;
	}
	if (a->err == -EAGAIN)
		return;
	make_room(j);
	k = known_to_be(j, p, p->question);
	*k = (struct known) {
		.serial = p->serial,
		.at = p->question,
		.rule = a->frames[0].rule,
		.is_missing = a->err,
		.n = a->err ? 0 : a->n,
	};
	for (uint32_t i = 0; i < k->n; i++) {
		k->names[i] = name_of(j, &a->frames[i]);
		k->lines[i] = a->frames[i].line;
	}
}

/* Takes the answer that is to come. 0: there is none to come any more; or -EAGAIN. */
static int receive(struct jvms *j, struct process *p, uint64_t wait_ns)
{
	struct jvms_answer a;
	ssize_t n;

	if (!p->asked.serial)
		return 0;
	n = helper_receive(&p->helper, &a, sizeof(a), NULL, wait_ns);
	if (n == -EAGAIN && clock_now_ns() - p->asked_ns < HANGS_NS)
		return -EAGAIN;
	if (n != sizeof(a) || !is_sane(&a, &p->asked))
		lose(j, p);
	else
		take(j, p, &a);
	return 0;
}

/* In a long recording. If it died of its limit, it would be blamed. */
static bool is_used_up(const struct process *p)
{
	return helper_cpu_ns(&p->helper) > JVMS_CPU_SECONDS * UINT64_C(1000000000) / 2;
}

static int send_question(struct jvms *j, struct process *p, enum jvms_op op, uint64_t at,
			 uint64_t bytecode, uint64_t question)
{
	int err = start(j, p);

	if (err)
		return err;
	if (!++j->last_request)
		j->last_request = 1;
	p->asked = (struct jvms_request) { op, j->last_request, { at, bytecode } };
	p->question = question;
	p->asked_ns = clock_now_ns();
	if (!helper_send(&p->helper, &p->asked, sizeof(p->asked), -1))
		return 0;
	lose(j, p);
	return -EAGAIN;
}

/* What is at `question`, as in struct known. Returns 0; -EAGAIN; or -ENOENT: the JVM is not read.
 */
static int find(struct jvms *j, struct process *p, enum jvms_op op, uint64_t at, uint64_t bytecode,
		uint64_t question, struct known **out)
{
	uint64_t wait_ns;
	int err;

	*out = known_at(j, p, question);
	if (*out)
		return 0;
	if (receive(j, p, 0))
		return -EAGAIN;
	err = send_question(j, p, op, at, bytecode, question);
	if (err)
		return err == -EBUSY || err == -EAGAIN || err == -ETIMEDOUT || err == -EPIPE
			       ? -EAGAIN
			       : -ENOENT;
	wait_ns = wait_budget_now(&j->budget);
	(void)receive(j, p, wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS);
	wait_budget_spend(&j->budget);
	*out = known_at(j, p, question);
	if (*out)
		return 0;
	return p->is_unknown || p->deaths >= DEATHS_MAX ? -ENOENT : -EAGAIN;
}

int jvms_rule(struct jvms *j, uint32_t tgid, uint64_t at, bool is_exact, struct jvm_rule *r)
{
	struct process *p;
	struct known *k;
	int err = find_process(j, tgid, &p);

	if (!err)
		err = find(j, p, is_exact ? JVMS_EXACT : JVMS_FRAME, at, 0,
			   is_exact ? at ^ WIRE_EXACT : at + 1, &k);
	if (err)
		return err;
	/* Nothing is said of what is not there any more: it may be something else soon. */
	*r = k->is_missing ? (struct jvm_rule) { .kind = JVM_NO_CODE } : k->rule;
	return 0;
}

int jvms_names(struct jvms *j, uint32_t tgid, uint64_t frame, struct jvms_names *out)
{
	bool is_exact = wire_is_exact(frame), is_method = wire_is_java_method(frame);
	enum jvms_op op = is_method ? JVMS_METHOD : is_exact ? JVMS_EXACT : JVMS_FRAME;
	uint64_t at = is_method ? wire_java_method(frame) : wire_as_return(frame) - 1;
	struct process *p;
	struct known *k;
	int err = find_process(j, tgid, &p);

	if (!err)
		err = find(j, p, op, at, is_method ? wire_java_bytecode(frame) : 0, frame, &k);
	if (err)
		return err;
	if (k->is_missing)
		return -ENOENT;
	out->n = k->n;
	for (uint32_t i = 0; i < k->n; i++)
		out->list[i] = name_at(j, k->names[i], k->lines[i]);
	return 0;
}

/* ---- what changes ---------------------------------------------------------------------------- */

static void look(struct jvms *j, struct process *p)
{
	const struct wire_interpreter *at = java_of(j, p->tgid);
	uint64_t now_ns = clock_now_ns();

	if (!at || !is_of(p, at)) {
		drop(j, p);
		return;
	}
	if (receive(j, p, 0) || !p->helper.all || now_ns - p->changes_ns < CHANGES_NS)
		return;
	p->changes_ns = now_ns;
	if (is_used_up(p)) {
		end_watching(j, p);
		return;
	}
	(void)send_question(j, p, JVMS_CHANGES, 0, 0, 0);
}

void jvms_step(struct jvms *j)
{
	for (struct process *p = j->processes; p < j->processes + JVMS_MAX; p++)
		if (p->tgid)
			look(j, p);
}
