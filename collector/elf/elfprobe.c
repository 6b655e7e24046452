// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfprobe.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "common/demangle.h"
#include "elfsym_private.h"

#define NOTES_MAX_BYTES (16u << 20)

static void give_names(const struct near_names *n, struct elfprobe_answer *out)
{
	out->n_names = (uint32_t)n->n;
	memcpy(out->names, n->names, sizeof(out->names));
}

/* ---- functions ------------------------------------------------------------------------------ */

/* How well a name fits, the best first. */
enum fit {
	FITS_EXACTLY,
	FITS_READABLE, /* as it is shown */
	FITS_PART,     /* likewise, of a part that the compiler made of the function, or a copy */
	FITS_GLOB,
	FITS_NOT,
};

struct function_search {
	const struct elfprobe_query *q;
	struct near_names near;
	enum fit fit; /* of those that were found so far */
	uint64_t start, size;
	bool several; /* at several addresses */
	uint32_t n_names;
	char names[NEAR_NAMES_MAX][NEAR_NAMES_LEN];
	char name[ELFPROBE_NAME_MAX], readable[ELFPROBE_NAME_MAX];
};

/* Code that a compiler moved out of a function is no function. */
static bool is_cold(const char *name)
{
	size_t len = strlen(name);

	return strstr(name, ".cold.") || (len > 5 && !strcmp(name + len - 5, ".cold"));
}

static enum fit fit_of(struct function_search *s, const char **readable)
{
	const char *wanted = s->q->name;

	*readable = s->name;
	if (!strcmp(s->name, wanted))
		return FITS_EXACTLY;
	if (is_cold(s->name))
		return FITS_NOT;
	*readable = demangle(s->name, s->readable, sizeof(s->readable));
	if (*readable != s->name && !strcmp(*readable, wanted))
		return strchr(s->name, '.') ? FITS_PART : FITS_READABLE;
	if (strpbrk(wanted, "*?[") &&
	    (!fnmatch(wanted, s->name, 0) || !fnmatch(wanted, *readable, 0)))
		return FITS_GLOB;
	return FITS_NOT;
}

/* Of two with one readable name, the mangled ones tell them apart. */
static void keep_name(struct function_search *s, enum fit fit, const char *readable)
{
	if (s->n_names < NEAR_NAMES_MAX)
		snprintf(s->names[s->n_names++], NEAR_NAMES_LEN, "%s",
			 fit == FITS_GLOB ? readable : s->name);
}

static void take_function(void *search, const char *name, uint64_t start, uint64_t size)
{
	struct function_search *s = search;
	size_t len = strcspn(name, "@");
	const char *readable;
	enum fit fit;

	if (!len || len >= sizeof(s->name))
		return;
	memcpy(s->name, name, len);
	s->name[len] = '\0';
	fit = fit_of(s, &readable);
	if (fit == FITS_NOT) {
		if (s->fit == FITS_NOT)
			near_names_offer(&s->near, readable);
		return;
	}
	if (fit > s->fit || (fit == s->fit && start == s->start))
		return;
	if (fit < s->fit) {
		s->n_names = 0;
		s->several = false;
	} else {
		s->several = true;
	}
	s->fit = fit;
	s->start = start;
	s->size = size;
	keep_name(s, fit, readable);
}

/* The name without a list of parameters at its end, as other tools have it. */
static void without_parameters(char name[ELFPROBE_NAME_MAX], const char *wanted)
{
	size_t len = strlen(wanted), open = 0;

	snprintf(name, ELFPROBE_NAME_MAX, "%s", wanted);
	if (!len || len >= ELFPROBE_NAME_MAX || wanted[len - 1] != ')')
		return;
	while (len--) {
		open += wanted[len] == ')';
		open -= wanted[len] == '(';
		if (!open)
			break;
	}
	if (!open)
		name[len] = '\0';
}

static void find_function(struct elfsym *e, const struct elfprobe_query *q,
			  struct elfprobe_answer *out)
{
	char wanted[ELFPROBE_NAME_MAX];
	struct function_search s = { .q = q, .near.wanted = wanted, .fit = FITS_NOT };

	without_parameters(wanted, q->name);
	elfsym_each_function(e, take_function, &s);
	if (s.fit == FITS_NOT) {
		out->fault = ELFPROBE_NONE;
		give_names(&s.near, out);
	} else if (s.several) {
		out->fault = ELFPROBE_SEVERAL;
		out->n_names = s.n_names;
		memcpy(out->names, s.names, sizeof(out->names));
	} else if ((q->offset && q->offset >= s.size) ||
		   !elfsym_offset(e, s.start + q->offset, PF_X, &out->places[0].offset)) {
		out->fault = ELFPROBE_OUTSIDE;
	} else {
		out->n_places = 1;
	}
}

/* ---- USDT ----------------------------------------------------------------------------------- */

struct note {
	uint64_t at, base, semaphore;
	const char *provider, *name, *args;
	size_t args_len;
};

/* The string at *p, which ends before end; NULL: it does not. *p: what follows it. */
static const char *take_string(const char **p, const char *end)
{
	const char *s = *p, *zero = memchr(s, 0, (size_t)(end - s));

	*p = zero ? zero + 1 : end;
	return zero ? s : NULL;
}

static bool read_note(const char *desc, size_t len, struct note *n)
{
	uint64_t numbers[3];
	const char *p = desc + sizeof(numbers), *end = desc + len;

	if (len < sizeof(numbers))
		return false;
	memcpy(numbers, desc, sizeof(numbers));
	n->at = numbers[0];
	n->base = numbers[1];
	n->semaphore = numbers[2];
	n->provider = take_string(&p, end);
	n->name = n->provider ? take_string(&p, end) : NULL;
	n->args = p;
	n->args_len = strnlen(p, (size_t)(end - p));
	return n->name;
}

/* Tools may have moved the program's code after its notes were made (prelink). */
static uint64_t moved_by(struct elfsym *e, const struct note *n)
{
	GElf_Shdr sh;

	return n->base && elfsym_find_section(e, SHT_PROGBITS, ".stapsdt.base", &sh)
		       ? sh.sh_addr - n->base
		       : 0;
}

static void take_place(struct elfsym *e, const struct elfprobe_query *q, const struct note *n,
		       struct elfprobe_answer *out)
{
	struct elfprobe_place *place = &out->places[out->n_places];
	uint64_t moved = moved_by(e, n);

	if (out->n_places == ELFPROBE_PLACES) {
		out->fault = ELFPROBE_TOO_MANY;
		return;
	}
	*place = (struct elfprobe_place) { 0 };
	if (!elfsym_offset(e, n->at + moved, PF_X, &place->offset) ||
	    (n->semaphore && !elfsym_offset(e, n->semaphore + moved, PF_W, &place->semaphore))) {
		out->fault = ELFPROBE_OUTSIDE;
		return;
	}
	for (unsigned int i = 0; i < ELFPROBE_ARGS; i++)
		if (q->args[i] &&
		    !probe_args_of_usdt(n->args, n->args_len, q->args[i], &place->args[i]))
			out->fault = ELFPROBE_NO_ARG;
	out->n_places++;
}

static void find_usdt(struct elfsym *e, const struct elfprobe_query *q, struct elfprobe_answer *out)
{
	char wanted[ELFPROBE_PROVIDER_MAX + ELFPROBE_NAME_MAX], full[sizeof(wanted)];
	struct near_names near = { .wanted = wanted };
	size_t at = 0, name_at, desc_at;
	GElf_Shdr sh;
	Elf_Scn *scn = elfsym_find_section(e, SHT_NOTE, ".note.stapsdt", &sh);
	Elf_Data *d = scn && !(sh.sh_flags & SHF_COMPRESSED) && sh.sh_size <= NOTES_MAX_BYTES
			      ? elf_getdata(scn, NULL)
			      : NULL;
	GElf_Nhdr nh;
	struct note n;

	snprintf(wanted, sizeof(wanted), "%s:%s", q->provider, q->name);
	while (d && (at = gelf_getnote(d, at, &nh, &name_at, &desc_at))) {
		if (nh.n_type != 3 || nh.n_namesz != sizeof("stapsdt") ||
		    memcmp((char *)d->d_buf + name_at, "stapsdt", sizeof("stapsdt")) ||
		    !read_note((char *)d->d_buf + desc_at, nh.n_descsz, &n))
			continue;
		if (!strcmp(n.provider, q->provider) && !strcmp(n.name, q->name)) {
			take_place(e, q, &n, out);
			continue;
		}
		snprintf(full, sizeof(full), "%s:%s", n.provider, n.name);
		near_names_offer(&near, full);
	}
	if (!out->n_places && !out->fault) {
		out->fault = ELFPROBE_NONE;
		give_names(&near, out);
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool is_native(const struct elfsym *e)
{
#if defined(__x86_64__)
	const GElf_Half machine = EM_X86_64;
#else
	const GElf_Half machine = EM_AARCH64;
#endif
	return e->header.e_machine == machine && e->header.e_ident[EI_CLASS] == ELFCLASS64;
}

void elfprobe_find(struct elfsym *e, const struct elfprobe_query *q, struct elfprobe_answer *out)
{
	GElf_Shdr sh;

	*out = (struct elfprobe_answer) { .fault = ELFPROBE_FOUND };
	if (!is_native(e)) {
		out->fault = ELFPROBE_NOT_NATIVE;
		return;
	}
	out->is_go = elfsym_find_section(e, SHT_PROGBITS, ".go.buildinfo", &sh) ||
		     elfsym_find_section(e, SHT_PROGBITS, ".gopclntab", &sh);
	if (q->is_usdt)
		find_usdt(e, q, out);
	else
		find_function(e, q, out);
}
