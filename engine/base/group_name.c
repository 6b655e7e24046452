// SPDX-License-Identifier: GPL-2.0-or-later
#include "group_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 32u /* an id has at least so many, */
#define ID_SHOWN 12   /* of which so many are shown */
#define POD_SHOWN 8

/* A part of a text. */
struct part {
	const char *p;
	size_t len;
};

static bool is(struct part a, const char *text)
{
	return a.len == strlen(text) && !memcmp(a.p, text, a.len);
}

static bool begins(struct part a, const char *text)
{
	return a.len >= strlen(text) && !memcmp(a.p, text, strlen(text));
}

static bool ends(struct part a, const char *text)
{
	size_t len = strlen(text);

	return a.len >= len && !memcmp(a.p + a.len - len, text, len);
}

static struct part without_first(struct part a, size_t n)
{
	return (struct part) { a.p + n, a.len - n };
}

/* The next name of the path at *p; false: there is none. */
static bool next_name(const char **p, struct part *name)
{
	*p += strspn(*p, "/");
	*name = (struct part) { *p, strcspn(*p, "/") };
	*p += name->len;
	return name->len;
}

/* How many of the first bytes are hexadecimal digits. */
static size_t digits(struct part a)
{
	size_t n = 0;

	while (n < a.len && isxdigit((unsigned char)a.p[n]))
		n++;
	return n;
}

/* What was found on the way down the path. */
struct found {
	struct part pod;	  /* the beginning of its UID */
	struct part runtime, id;  /* of a container: its kind, the beginning of its id */
	struct part lxc;	  /* a container's name */
	struct part job, step;	  /* of Slurm */
	struct part unit, before; /* the last unit, and the one above it; in the container */
};

/* "podUID" or "kubepods-burstable-podUID.slice", perhaps with ":cri-containerd:ID" behind it. */
static bool take_pod(struct found *f, struct part name)
{
	struct part uid = name;

	if (begins(name, "kubepods-") || begins(name, "kubelet-kubepods-")) {
		while (uid.len && !begins(uid, "-pod"))
			uid = without_first(uid, 1);
		if (!uid.len)
			return false;
		uid = without_first(uid, 1);
	}
	if (!begins(uid, "pod") || digits(without_first(uid, 3)) < POD_SHOWN)
		return false;
	f->pod = (struct part) { uid.p + 3, POD_SHOWN };
	return true;
}

/*
 * "ID", "docker-ID.scope", "kubepods-...:cri-containerd:ID"; above: the name before it, which says
 * what kind of container it is where this one does not.
 */
static bool take_container(struct found *f, struct part name, struct part above)
{
	struct part runtime = { name.p, 0 };
	/* ECS has the container in a group of the task, whose id says nothing of the kind. */
	bool in_task = f->id.len && f->id.p >= above.p && f->id.p < above.p + above.len;

	for (size_t i = 0; i < name.len; i++) {
		struct part id = without_first(name, i);
		bool begins_here = !i || name.p[i - 1] == '-' || name.p[i - 1] == ':';
		size_t n = begins_here ? digits(id) : 0;

		if (n >= ID_DIGITS && (n == id.len || id.p[n] == '.' || id.p[n] == '-')) {
			runtime.len = i ? (size_t)(id.p - runtime.p) - 1 : 0;
			*f = (struct found) {
				.pod = f->pod,
				.runtime = i	     ? runtime
					   : in_task ? f->runtime
						     : above,
				.id = { id.p, ID_SHOWN },
			};
			return true;
		}
		if (name.p[i] == ':' && memchr(id.p + 1, ':', id.len - 1))
			runtime.p = id.p + 1;
	}
	return false;
}

static bool is_unit(struct part name)
{
	static const char *const kinds[] = { ".service", ".scope", ".mount", ".socket", ".swap" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (ends(name, kinds[i]))
			return true;
	return false;
}

static void take(struct found *f, struct part name, struct part above)
{
	if (take_pod(f, name) && !memchr(name.p, ':', name.len))
		return;
	if (take_container(f, name, above))
		return;
	if (begins(name, "lxc.payload."))
		f->lxc = without_first(name, strlen("lxc.payload."));
	else if (is(above, "lxc"))
		f->lxc = name;
	else if (begins(name, "job_") && isdigit((unsigned char)name.p[4]))
		f->job = without_first(name, 4);
	else if (f->job.len && begins(name, "step_"))
		f->step = without_first(name, 5);
	else if (is_unit(name)) {
		f->before = f->unit;
		f->unit = name;
	}
}

#define FORMAT "%.*s"
#define PART(a) (int)(a).len, (a).p ? (a).p : ""

static void put_container(const struct found *f, char out[GROUP_NAME_LEN])
{
	struct part kind = f->runtime, unit = f->unit;
	const char *pod = f->pod.len ? "pod" : "";

	if (is(kind, "libpod"))
		kind = (struct part) { "podman", strlen("podman") };
	/* A pod says enough, but for what stands beside its containers. */
	if (f->pod.len && !ends(kind, "-conmon"))
		kind.len = 0;
	snprintf(out, GROUP_NAME_LEN, "%s" FORMAT "%s" FORMAT "%s" FORMAT "%s" FORMAT, pod,
		 PART(f->pod), f->pod.len && kind.len ? "/" : "", PART(kind),
		 f->pod.len || kind.len ? "/" : "", PART(f->id), unit.len ? "/" : "", PART(unit));
}

static struct found find(const char *path, struct part *above)
{
	struct found f = { .pod = { NULL, 0 } };
	struct part name;

	*above = (struct part) { "", 0 };
	for (const char *p = path; next_name(&p, &name); *above = name)
		take(&f, name, *above);
	return f;
}

void group_ids(const char *path, struct group_ids *ids)
{
	struct part last;
	struct found f = find(path, &last);
	size_t n = 0;

	*ids = (struct group_ids) { "", "" };
	if (f.id.len)
		snprintf(ids->container, sizeof(ids->container), FORMAT,
			 (int)digits((struct part) { f.id.p, strlen(f.id.p) }), f.id.p);
	/* systemd's names of groups have '_' where a UID has '-'. */
	for (; f.pod.len && n + 1 < sizeof(ids->pod); n++) {
		char c = f.pod.p[n];

		if (c != '-' && c != '_' && !isxdigit((unsigned char)c))
			break;
		ids->pod[n] = c == '_' ? '-' : c;
	}
	ids->pod[n] = '\0';
}

void group_name(const char *path, char out[GROUP_NAME_LEN])
{
	struct part last;
	struct found f = find(path, &last);
	size_t len;

	if (is(f.unit, "init.scope") && f.before.len)
		f.unit = f.before;
	len = strlen(path);
	if (f.id.len)
		put_container(&f, out);
	else if (f.pod.len)
		snprintf(out, GROUP_NAME_LEN, "pod" FORMAT, PART(f.pod));
	else if (f.job.len && f.step.len)
		snprintf(out, GROUP_NAME_LEN, "slurm/" FORMAT "." FORMAT, PART(f.job),
			 PART(f.step));
	else if (f.job.len)
		snprintf(out, GROUP_NAME_LEN, "slurm/" FORMAT, PART(f.job));
	else if (f.lxc.len)
		snprintf(out, GROUP_NAME_LEN, "lxc/" FORMAT, PART(f.lxc));
	else if (f.unit.len)
		snprintf(out, GROUP_NAME_LEN, FORMAT, PART(f.unit));
	else if (ends(last, ".slice"))
		snprintf(out, GROUP_NAME_LEN, FORMAT, PART(last));
	else if (len < GROUP_NAME_LEN)
		snprintf(out, GROUP_NAME_LEN, "%s", path);
	else
		snprintf(out, GROUP_NAME_LEN, "...%s", path + len - (GROUP_NAME_LEN - 4));
}
