// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe_set.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/grow.h"
#include "elf/elfprobe.h"
#include "files/coderoot.h"
#include "names/reader.h"
#include "tls_libraries.h"

/* A browser's symbols take seconds to read, on a loaded machine. */
#define ANSWER_NS 60000000000u
/* Files that nobody named are not waited for. */
#define STRANGER_NS 2000000000u

struct finder {
	struct probe_set *set;
	size_t cap;
	struct helpers *helpers;
	uint64_t answer_ns; /* so long may a helper take */
	bool exported;	    /* only what the file itself exports is looked for */
	/* Of the file of the mark that is looked for: */
	bool is_go;
	bool is_stripped; /* and no debug file was found */
	const struct request_spec *spec;
	uint32_t request; /* its number */
	char path[PATH_MAX];
	char *why;
	size_t why_size;
};

#define COMPLAIN(f, err, fmt, ...)                                                              \
	(snprintf((f)->why, (f)->why_size, "--request %s: " fmt, (f)->spec->name, __VA_ARGS__), \
	 (err))

/* ---- files ---------------------------------------------------------------------------------- */

/*
 * In another process's root, a path's symbolic links are that process's, too. Returns a descriptor
 * or a negative errno.
 */
static int open_program(const char *path)
{
	int pid, at = 0, dir, fd;
	char root[40];

	if (sscanf(path, "/proc/%d/root/%n", &pid, &at) == 1 && at) {
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
		dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -errno;
		fd = code_open_in_root(dir, path + at, 0);
		close(dir);
		return fd;
	}
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : code_reopen_regular(fd);
}

/* A debugfile_offer_fn. */
static bool offer_debug(void *reader, int fd)
{
	return reader_add_debug(reader, fd, ANSWER_NS);
}

/* Asks a process without rights. */
static int ask(struct finder *f, int fd, const struct elfprobe_query *q,
	       struct elfprobe_answer *answer)
{
	struct reader_file file;
	struct reader *rd;
	int err = reader_open(&rd, f->helpers, HELPER_FOLLOWS, fd);

	if (err)
		return COMPLAIN(f, err, "%s cannot be read: %s", f->path, strerror(-err));
	err = reader_file(rd, &file, f->answer_ns);
	f->is_stripped = !err && !f->exported && !q->is_usdt && !file.has_symtab &&
			 !debugfile_search(&file.wanted, fd, -1, f->path, offer_debug, rd);
	if (f->is_stripped)
		reader_add_minidebug(rd);
	if (!err)
		err = reader_find_probe(rd, q, answer, f->answer_ns);
	reader_close(rd);
	if (err == -ENOEXEC)
		return COMPLAIN(f, err, "%s is no program or library", f->path);
	if (err)
		return COMPLAIN(f, err, "%s cannot be read: %s", f->path,
				err == -EPIPE ? "it is damaged" : strerror(-err));
	return 0;
}

/* ---- what is wrong -------------------------------------------------------------------------- */

/* Names are a stranger's: what is no printable letter is replaced. */
static void list_names(struct elfprobe_answer *a, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (uint32_t i = 0; i < a->n_names && len < size; i++) {
		for (char *c = a->names[i]; *c; c++)
			if (!isprint((unsigned char)*c))
				*c = '?';
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "", a->names[i]);
	}
}

static int explain(const struct finder *f, const struct probe_mark *m, struct elfprobe_answer *a)
{
	const char *what = m->is_usdt ? "USDT probe" : "function", *colon = m->is_usdt ? ":" : "";
	int prov = (int)m->provider.len, len = (int)m->name.len;
	char names[NEAR_NAMES_MAX * NEAR_NAMES_LEN];

	list_names(a, names, sizeof(names));
	switch ((enum elfprobe_fault)a->fault) {
	case ELFPROBE_NO_FILE:
		return COMPLAIN(f, -ENOEXEC, "%s is damaged", f->path);
	case ELFPROBE_NOT_NATIVE:
		return COMPLAIN(f, -ENOEXEC, "%s is not of 64 bits and for this machine", f->path);
	case ELFPROBE_NONE:
		return COMPLAIN(f, -ENOENT, "%s has no %s %.*s%s%.*s%s%s%s", f->path, what, prov,
				m->provider.s, colon, len, m->name.s,
				a->n_names ? "; near it: " : "", names,
				f->is_stripped ? " (it is stripped, and there is no debug file: "
						 "only exported functions have names)"
					       : "");
	case ELFPROBE_SEVERAL:
		return COMPLAIN(f, -EINVAL, "several functions of %s fit %.*s: %s", f->path, len,
				m->name.s, names);
	case ELFPROBE_OUTSIDE:
		return COMPLAIN(f, -EINVAL, "%s: not in the code of %.*s: +%llu", f->path, len,
				m->name.s, (unsigned long long)m->offset);
	case ELFPROBE_NO_ARG:
		return COMPLAIN(f, -EINVAL,
				"%s: %.*s:%.*s has no such argument, or not where it "
				"can be read",
				f->path, prov, m->provider.s, len, m->name.s);
	case ELFPROBE_TOO_MANY:
		return COMPLAIN(f, -E2BIG, "%s has too many places of %.*s", f->path, len,
				m->name.s);
	case ELFPROBE_FOUND:
		break;
	}
	return 0;
}

/* ---- places --------------------------------------------------------------------------------- */

/* An argument as it is asked for: a type overrides what the probe says of it. */
static struct wire_probe_value value_of(const struct finder *f, const struct spec_arg *a,
					const struct probe_mark *m,
					const struct wire_probe_value *noted)
{
	struct wire_probe_value v = { .source = WIRE_PROBE_NOTHING };

	if (!a->n)
		return v;
	v = m->is_usdt ? *noted : probe_args_of_function(a->n, f->is_go);
	if (a->bytes) {
		v.bytes = a->bytes;
		v.is_signed = a->is_signed;
	}
	return v;
}

static uint32_t label_kind(const struct spec_arg *a, const struct wire_probe_value *v)
{
	if (!a->n)
		return WIRE_LABEL_NONE;
	if (a->is_string)
		return WIRE_LABEL_STRING;
	return v->is_signed ? WIRE_LABEL_SIGNED : WIRE_LABEL_UNSIGNED;
}

static int add(struct finder *f, const struct probe_mark *m, enum wire_probe_act act, int fd,
	       const struct elfprobe_place *place)
{
	const struct spec_arg *label = &f->spec->label;
	struct probe_set *set = f->set;
	struct bpf_probe *p;

	if (set->n == WIRE_PROBE_SITES)
		return COMPLAIN(f, -E2BIG, "at most %u places are probed", WIRE_PROBE_SITES);
	if (!GROW(set->at, set->n, f->cap))
		return -ENOMEM;
	p = &set->at[set->n];
	*p = (struct bpf_probe) {
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
		.offset = place->offset,
		.semaphore = place->semaphore,
		.site = {
			.act = act,
			.request = f->request,
			.by_id = m->id.n != 0,
			.id = value_of(f, &m->id, m, &place->args[0]),
		},
	};
	if (p->fd < 0)
		return COMPLAIN(f, -errno, "%s: %s", f->path, strerror(errno));
	set->n++;
	if (m == &f->spec->begin && act != WIRE_PROBE_RETURN) {
		p->site.label = value_of(f, label, m, &place->args[1]);
		p->site.label_is = label_kind(label, &p->site.label);
	}
	memcpy(p->site.name, f->spec->name, sizeof(p->site.name));
	return 0;
}

static int add_places(struct finder *f, const struct probe_mark *m, int fd,
		      struct elfprobe_answer *a)
{
	bool is_call = f->spec->is_call;
	int err = 0;

	/* A Go program reads the return addresses of its stacks, and ends if it does not know one.
	 */
	f->is_go = a->is_go;
	if (is_call && a->is_go)
		return COMPLAIN(f, -EINVAL,
				"%s was built by Go, whose calls cannot be probed: give two marks",
				f->path);
	for (uint32_t i = 0; !err && i < a->n_places; i++) {
		if (is_call)
			err = add(f, m, WIRE_PROBE_CALL, fd, &a->places[i]);
		else
			err = add(f, m, m == &f->spec->begin ? WIRE_PROBE_BEGIN : WIRE_PROBE_END,
				  fd, &a->places[i]);
		if (!err && is_call)
			err = add(f, m, WIRE_PROBE_RETURN, fd, &a->places[i]);
	}
	return err;
}

static int find_mark(struct finder *f, const struct probe_mark *m)
{
	struct elfprobe_query q = {
		.is_usdt = m->is_usdt,
		.args = { m->id.n, m == &f->spec->begin ? f->spec->label.n : 0 },
		.offset = m->offset,
	};
	struct elfprobe_answer *a;
	int fd, err;

	if (m->path.len >= sizeof(f->path))
		return -ENAMETOOLONG;
	memcpy(f->path, m->path.s, m->path.len);
	f->path[m->path.len] = '\0';
	memcpy(q.provider, m->provider.s, m->provider.len);
	memcpy(q.name, m->name.s, m->name.len);
	fd = open_program(f->path);
	if (fd < 0)
		return COMPLAIN(f, fd, "%s: %s", f->path,
				fd == -EINVAL ? "not a file" : strerror(-fd));
	a = calloc(1, sizeof(*a));
	err = a ? ask(f, fd, &q, a) : -ENOMEM;
	if (!err)
		err = explain(f, m, a);
	if (!err)
		err = add_places(f, m, fd, a);
	free(a);
	close(fd);
	return err;
}

int probe_set_find(struct probe_set *set, const struct request_spec *specs, size_t n,
		   struct helpers *helpers, char *why, size_t why_size)
{
	struct finder f = { .set = set,
			    .helpers = helpers,
			    .answer_ns = ANSWER_NS,
			    .why = why,
			    .why_size = why_size };
	int err = 0;

	*set = (struct probe_set) { .n = 0 };
	*why = '\0';
	for (; !err && f.request < n; f.request++) {
		f.spec = &specs[f.request];
		err = find_mark(&f, &f.spec->begin);
		if (!err && !f.spec->is_call)
			err = find_mark(&f, &f.spec->end);
	}
	return err;
}

/* ---- TLS ------------------------------------------------------------------------------------ */

/* What probes of libssl's functions do at the call, and at the return if they have one. */
static const struct tls_function {
	const char *name;
	enum wire_probe_act at_call, at_return;
	bool returns;
	unsigned int n_arg; /* where it writes how many bytes there are; 0: it returns the number */
} tls_functions[] = {
	/* SSL_read(3ssl), SSL_free(3ssl) */
	{ "SSL_read", WIRE_PROBE_TLS_READ, WIRE_PROBE_TLS_READ_DONE, true, 0 },
	{ "SSL_read_ex", WIRE_PROBE_TLS_READ, WIRE_PROBE_TLS_READ_EX_DONE, true, 4 },
	{ "SSL_free", WIRE_PROBE_TLS_FREE, 0, false, 0 },
};

/* As add(); n: how many bytes there are, or where that stands. */
static int add_of_tls(struct finder *f, enum wire_probe_act act, int fd,
		      const struct elfprobe_place *place, struct wire_probe_value n)
{
	const struct probe_mark none = { .is_usdt = false };
	int err = add(f, &none, act, fd, place);
	struct wire_probe_site *site;

	if (err)
		return err;
	site = &f->set->at[f->set->n - 1].site;
	site->id = probe_args_of_function(1, false);
	site->label = probe_args_of_function(2, false);
	site->n = n;
	return 0;
}

/* What is not there, or not as it should be, is left out: others may be. */
static int add_tls_function(struct finder *f, const struct tls_function *tls, int fd)
{
	struct elfprobe_query q = { .is_usdt = false };
	struct elfprobe_answer *a = calloc(1, sizeof(*a));
	struct wire_probe_value n = { .source = WIRE_PROBE_NOTHING };
	int err = 0;

	if (!a)
		return -ENOMEM;
	memcpy(q.name, tls->name, strlen(tls->name));
	if (ask(f, fd, &q, a) || a->fault != ELFPROBE_FOUND || a->n_places != 1)
		goto out;
	if (tls->n_arg)
		n = probe_args_of_function(tls->n_arg, false);
	err = add_of_tls(f, tls->at_call, fd, &a->places[0], n);
	if (!err && tls->returns) {
		n = probe_args_returned();
		n.bytes = sizeof(int);
		err = add_of_tls(f, tls->at_return, fd, &a->places[0], n);
	}
out:
	free(a);
	return err;
}

int probe_set_find_tls(struct probe_set *set, struct helpers *helpers, size_t *n_found,
		       size_t *left_out, char *why, size_t why_size)
{
	static const struct request_spec spec = { .name = "--tls" };
	struct finder f = { .set = set,
			    .cap = set->n,
			    .helpers = helpers,
			    .answer_ns = STRANGER_NS,
			    .exported = true,
			    .spec = &spec,
			    .path = "libssl",
			    .why = why,
			    .why_size = why_size };
	struct tls_libraries libraries;
	int err = tls_libraries_open(&libraries);

	*n_found = 0;
	*left_out = libraries.left_out;
	for (size_t i = 0; !err && i < libraries.n; i++) {
		size_t before = set->n;

		for (size_t k = 0; !err && k < sizeof(tls_functions) / sizeof(tls_functions[0]);
		     k++)
			err = add_tls_function(&f, &tls_functions[k], libraries.fd[i]);
		if (set->n > before)
			++*n_found;
		else
			++*left_out;
	}
	tls_libraries_close(&libraries);
	return err;
}

void probe_set_free(struct probe_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		close(set->at[i].fd);
	free(set->at);
	*set = (struct probe_set) { .n = 0 };
}
