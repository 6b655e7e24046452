// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_modules.h"

#include <assert.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "common/build_id.h"
#include "common/xalloc.h"

static_assert(sizeof(struct perf_identity) == 56, "there are no gaps in a key");

/* Programs have a handful of segments. */
#define SEGMENTS_MAX 64u

struct perf_module {
	struct perf_identity who;
	uint32_t number, space; /* in the trace; 0: none yet */
};

uint32_t perf_modules_id(struct perf_modules *m, const struct perf_identity *who,
			 struct import_name path)
{
	char key[sizeof(*who) + PATH_MAX];
	bool is_new;
	uint32_t id;

	if (path.len >= PATH_MAX)
		path.len = PATH_MAX - 1;
	memcpy(key, who, sizeof(*who));
	memcpy(key + sizeof(*who), path.p, path.len);
	id = xintern(&m->keys, key, sizeof(*who) + path.len, &is_new);
	XGROW(m->at, id - 1, m->cap);
	if (is_new)
		m->at[id - 1] = (struct perf_module) { .who = *who };
	return id;
}

uint32_t perf_modules_number(struct perf_modules *m, uint32_t id)
{
	struct perf_module *one = &m->at[id - 1];

	if (one->number)
		return one->number;
	XAPPEND(m->used, m->n_used, m->cap_used) = id;
	one->number = m->n_used;
	return one->number;
}

/* Its path, which ends in a 0. Valid until another file comes. */
static const char *path_of(const struct perf_modules *m, uint32_t id)
{
	size_t len;

	return intern_bytes(&m->keys, id, &len) + sizeof(struct perf_identity);
}

uint32_t perf_modules_space(struct perf_modules *m, uint32_t id)
{
	struct perf_module *one = &m->at[id - 1];

	if (!one->space)
		one->space = encoder_space(m->enc, 0, path_of(m, id));
	return one->space;
}

/* ---- files that are here -------------------------------------------------------------------- */

int perf_cache_open(const uint8_t *build_id, size_t len, const char *name)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	int n;

	if (!home || len < 2)
		return -1;
	n = snprintf(path, sizeof(path), "%s/.debug/.build-id/%02x/", home, build_id[0]);
	for (size_t i = 1; i < len && n > 0 && (size_t)n < sizeof(path); i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", build_id[i]);
	if (n > 0 && (size_t)n < sizeof(path))
		n += snprintf(path + n, sizeof(path) - (size_t)n, "/%s", name);
	return n > 0 && (size_t)n < sizeof(path) ? open_regular(path) : -1;
}

static bool has_build_id(Elf *elf, const struct perf_identity *who)
{
	uint8_t id[BUILD_ID_MAX];
	size_t len = build_id_find(elf, id);

	/* perf keeps 20 bytes of a longer one, and fills up a shorter one in some of its places. */
	if (len > PERF_BUILD_ID_MAX)
		len = PERF_BUILD_ID_MAX;
	if (!len || who->build_id_len < len || memcmp(id, who->build_id, len) != 0)
		return false;
	for (size_t i = len; i < who->build_id_len; i++)
		if (who->build_id[i])
			return false;
	return true;
}

/* Whether the file that is open is the one that was mapped, unchanged until then. */
static bool is_mapped_one(int fd, const struct perf_identity *who, int64_t until_ns)
{
	struct stat st;
	unsigned int generation = 0;
	int64_t changed_ns;

	if (!who->has_inode || !until_ns || fstat(fd, &st) || st.st_ino != who->inode ||
	    major(st.st_dev) != who->major || minor(st.st_dev) != who->minor)
		return false;
	/* perf itself, which lists what was mapped at the start, does not know the generation. */
	if (who->generation && !ioctl(fd, FS_IOC_GETVERSION, &generation) &&
	    generation != (uint32_t)who->generation)
		return false;
	changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return changed_ns < until_ns;
}

static void take_segments(struct perf_modules *m, uint32_t number, Elf *elf)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			(void)encoder_segment(m->enc, number, ph.p_offset, ph.p_filesz, ph.p_vaddr);
	}
}

/* The build ID that the recording has for the path. */
static void take_recorded_id(struct perf_identity *who, const char *path, const struct perf_file *f)
{
	for (size_t i = 0; i < f->n_build_ids && !who->build_id_len; i++) {
		const struct perf_build_id *b = &f->build_ids[i];

		if (!perf_text_is(b->path, path))
			continue;
		who->build_id_len = b->len;
		memcpy(who->build_id, b->id, b->len);
	}
}

/* ---- definitions ---------------------------------------------------------------------------- */

/* The file with the code of a module, if it is here: its segments follow the definition. */
static Elf *open_code(struct perf_identity *who, const char *path, int64_t until_ns, int *fd)
{
	uint8_t id[BUILD_ID_MAX];
	size_t len;
	Elf *elf;

	for (int place = 0; place < 2; place++) {
		*fd = place ? perf_cache_open(who->build_id, who->build_id_len,
					      *path == '[' ? "vdso" : "elf")
			    : open_regular(path);
		if (*fd < 0)
			continue;
		elf = elf_begin(*fd, ELF_C_READ, NULL);
		if (elf_kind(elf) == ELF_K_ELF) {
			if (who->build_id_len && has_build_id(elf, who))
				return elf;
			len = who->build_id_len ? 0 : build_id_find(elf, id);
			if (len && len <= PERF_BUILD_ID_MAX && is_mapped_one(*fd, who, until_ns)) {
				who->build_id_len = (uint32_t)len;
				memcpy(who->build_id, id, len);
				return elf;
			}
		}
		elf_end(elf);
		close(*fd);
	}
	return NULL;
}

/* "[vdso]" is shown in brackets in any case, as it is no path. */
static uint32_t path_string(struct encoder *enc, const char *path)
{
	size_t len = strlen(path);
	bool in_brackets = len > 2 && path[0] == '[' && path[len - 1] == ']';

	return encoder_string(enc, path + in_brackets, in_brackets ? len - 2 : len);
}

uint64_t perf_modules_define(struct perf_modules *m, const struct perf_file *f, int64_t until_ns)
{
	uint64_t without = 0;

	elf_version(EV_CURRENT);
	for (uint32_t i = 0; i < m->n_used; i++) {
		struct perf_module *one = &m->at[m->used[i] - 1];
		const char *path = path_of(m, m->used[i]);
		Elf *elf = NULL;
		int fd = -1;

		if (!one->who.build_id_len)
			take_recorded_id(&one->who, path, f);
		if (*path == '/' || one->who.build_id_len)
			elf = open_code(&one->who, path, until_ns, &fd);
		without += !one->who.build_id_len && *path == '/';
		(void)encoder_module(m->enc, path_string(m->enc, path), one->who.build_id,
				     one->who.build_id_len);
		if (!elf)
			continue;
		take_segments(m, one->number, elf);
		elf_end(elf);
		close(fd);
	}
	return without;
}

void perf_modules_free(struct perf_modules *m)
{
	intern_free(&m->keys);
	free(m->at);
	free(m->used);
}
