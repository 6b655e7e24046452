// SPDX-License-Identifier: GPL-2.0-or-later
#include "build_id.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

/* Programs have some fifteen. */
#define SEGMENTS_MAX 256u
#define NOTE_MAX_BYTES (64u << 10)
/* Of a note named "Go". */
#define NT_GO_BUILD_ID 4u

/* The bytes of a note that say which build it is; len: of the whole note. False: none do. */
static bool id_of_note(const GElf_Nhdr *note, const char *name, const uint8_t **id, size_t *len)
{
	const uint8_t *slash;

	if (note->n_namesz != 4)
		return false;
	if (note->n_type == NT_GNU_BUILD_ID && !memcmp(name, "GNU", 4))
		return *len && *len <= BUILD_ID_MAX;
	if (note->n_type != NT_GO_BUILD_ID || memcmp(name, "Go\0", 4))
		return false;
	slash = memrchr(*id, '/', *len);
	if (slash) {
		*len -= (size_t)(slash + 1 - *id);
		*id = slash + 1;
	}
	return *len && *len <= BUILD_ID_MAX;
}

size_t build_id_find(Elf *elf, uint8_t id[BUILD_ID_MAX])
{
	size_t n = 0, found = 0;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		size_t at = 0, name_at, desc_at;
		GElf_Nhdr note;
		GElf_Phdr ph;
		Elf_Data *d;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE ||
		    ph.p_filesz > NOTE_MAX_BYTES)
			continue;
		d = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, (size_t)ph.p_filesz,
					 ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		while (d && (at = gelf_getnote(d, at, &note, &name_at, &desc_at))) {
			const uint8_t *bytes = (const uint8_t *)d->d_buf + desc_at;
			size_t len = note.n_descsz;

			if (!id_of_note(&note, (const char *)d->d_buf + name_at, &bytes, &len))
				continue;
			memcpy(id, bytes, len);
			found = len;
			if (note.n_type == NT_GNU_BUILD_ID)
				return found;
		}
	}
	return found;
}
