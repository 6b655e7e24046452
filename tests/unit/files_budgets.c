// SPDX-License-Identifier: GPL-2.0-or-later
/* What recorded programs can make the recorder keep in memory, told as the sideband would. */
#include "test.h"

#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "images_world.h"
#include "elf/elfsym.h"

#define OTHER (P + 1)

/* AddressSanitizer's malloc() gives no figures. */
#if defined(__SANITIZE_ADDRESS__)
#define FIGURES 0u
#else
#define FIGURES 1u
#endif

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* ---- mappings ------------------------------------------------------------------------------ */

static void map(struct world *w, uint32_t tgid, uint64_t time_ns, uint64_t start, const char *path)
{
	struct image *i = images_find(w->im, tgid, time_ns);
	struct code_place place = place_of(tgid, start, 0x1000, path);
	struct mapping m = { .start = start, .end = start + 0x1000, .time_ns = time_ns };

	m.file = code_files_get(w->files, &place);
	assert_true(m.file != 0);
	images_map(w->im, images_replace(w->im, i, &m), &m);
}

/* So many of two files by turns, none in the place of another, which takes long to find out. */
static void map_many(struct world *w, uint32_t tgid, uint64_t n)
{
	struct image *i = images_find(w->im, tgid, 110);

	for (uint64_t k = 0; k < n; k++) {
		uint64_t start = (2 * k + 2) * 0x1000;
		struct code_place place =
			place_of(tgid, start, 0x1000, k % 2 ? "/etc/group" : "/etc/passwd");
		struct mapping m = { .start = start, .end = start + 0x1000, .time_ns = 110 };

		m.file = code_files_get(w->files, &place);
		images_map(w->im, i, &m);
	}
}

static const char *at(struct world *w, uint32_t tgid, uint64_t addr, uint64_t time_ns)
{
	const struct image *i = images_find(w->im, tgid, time_ns);
	const struct mapping *m = i ? image_mapping(i, addr, time_ns) : NULL;

	return m ? code_files_path(w->files, m->file) : NULL;
}

/* Two files take turns at one address; returns the most memory that this took. */
static size_t swap(struct world *w, uint64_t from_ns, int times)
{
	size_t at_first = in_use(), most = at_first;

	for (int i = 0; i < times; i++) {
		uint64_t now = from_ns + (uint64_t)i * SECOND / 1785;

		images_expire(w->im, now, 5ull * SECOND);
		map(w, P, now, 0x1000, i % 2 ? "/etc/group" : "/etc/passwd");
		if (in_use() > most)
			most = in_use();
	}
	return most - at_first;
}

static void count_overflowed(void *count, const struct image *i)
{
	*(uint32_t *)count += i->overflowed;
}

static uint32_t overflowed(const struct world *w)
{
	uint32_t n = 0;

	images_each(w->im, count_overflowed, &n);
	return n;
}

/* As fast as a program was seen to do it, for ten seconds. */
TEST_IN(swapping_a_mapping_takes_little_memory, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "swapper");
	map(w, P, 110, 0x100000, "/etc/hosts");
	assert_in_range(swap(w, SECOND, 17850), FIGURES, 8u << 20);
	assert_string_equal(at(w, P, 0x1800, SECOND + 17848ull * SECOND / 1785), "/etc/passwd");
	assert_string_equal(at(w, P, 0x1800, 12ull * SECOND), "/etc/group");
	assert_string_equal(at(w, P, 0x100800, 12ull * SECOND), "/etc/hosts");
	assert_int_equal(overflowed(w), 0);
}

/* Each swap copies the list of mappings, so one of ten thousand is the worst. */
TEST_IN(swapping_with_many_mappings_loses_the_names_and_not_the_memory, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, OTHER, 100, "other");
	map(w, OTHER, 110, 0x1000, "/bin/other");
	images_exec(w->im, P, 100, "swapper");
	for (uint64_t i = 0; i < 10000; i++)
		map(w, P, 110, (i + 2) * 0x1000, "/etc/hosts");
	assert_string_equal(at(w, P, 0x2800, 120), "/etc/hosts");
	assert_in_range(swap(w, SECOND, 7140), FIGURES, 64u << 20);
	assert_int_equal(overflowed(w), 1);
	/* Neither what is there now nor what was there before. */
	assert_null(at(w, P, 0x1800, 6ull * SECOND));
	assert_null(at(w, P, 0x2800, 6ull * SECOND));
	assert_string_equal(at(w, OTHER, 0x1800, 6ull * SECOND), "/bin/other");
	/* Another program begins anew. */
	images_exec(w->im, P, 7ull * SECOND, "next");
	map(w, P, 7ull * SECOND + 1, 0x1000, "/bin/next");
	assert_string_equal(at(w, P, 0x1800, 8ull * SECOND), "/bin/next");
}

TEST_IN(more_mappings_than_a_process_may_have_give_no_wrong_names, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "mapper");
	map_many(w, P, 65536);
	assert_string_equal(at(w, P, 0x2800, 120), "/etc/passwd");
	assert_int_equal(overflowed(w), 0);
	map(w, P, 130, 0x40000000, "/etc/fstab");
	assert_int_equal(overflowed(w), 1);
	assert_null(at(w, P, 0x40000800, 140));
	assert_null(at(w, P, 0x2800, 140));
}

/* Of processes with as many as one may have, each a copy of the first one's and another. */
TEST_IN(mappings_of_all_processes_have_a_bound, set_up, tear_down)
{
	struct world *w = *state;
	size_t at_first = in_use();

	images_exec(w->im, P, 100, "mapper");
	map_many(w, P, 65535);
	for (uint32_t i = 1; i < 64; i++) {
		images_fork(w->im, P + i, P, 120);
		map(w, P + i, 130, 0x40000000, "/etc/fstab");
		assert_string_equal(at(w, P + i, 0x40000800, 140), "/etc/fstab");
	}
	assert_int_equal(overflowed(w), 0);
	images_fork(w->im, P + 64, P, 120);
	map(w, P + 64, 130, 0x40000000, "/etc/fstab");
	assert_int_equal(overflowed(w), 1);
	assert_null(at(w, P + 64, 0x40000800, 140));
	assert_null(at(w, P + 64, 0x2800, 140));
	assert_string_equal(at(w, P + 63, 0x2800, 140), "/etc/passwd");
	assert_in_range(in_use() - at_first, FIGURES, 200u << 20);
}

TEST_IN(files_with_long_names_fill_their_table_and_no_more, set_up, tear_down)
{
	struct world *w = *state;
	size_t at_first = in_use();
	char path[4096];
	struct code_place place = { .start = 0x1000, .end = 0x2000, .path = path };
	uint32_t n = 0, id;

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	do {
		place.ino = ++n;
		id = code_files_get(w->files, &place);
	} while (id && n < 200000);
	assert_int_equal(id, 0);
	assert_in_range(n, 30000, 199999);
	assert_in_range(in_use() - at_first, FIGURES, 300u << 20);
	code_files_put(w->files, 1);
	assert_int_equal(code_files_get(w->files, &place), 1);
}

/* ---- ELF files ----------------------------------------------------------------------------- */

#define TABLES 20

static Elf64_Ehdr header(void)
{
	return (Elf64_Ehdr) {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = 64,
		.e_shnum = 1,
	};
}

static int sparse_file(const Elf64_Ehdr *h, off_t bytes)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(pwrite(fd, h, sizeof(*h), 0), (ssize_t)sizeof(*h));
	return fd;
}

/* PN_XNUM: the number is in a section, up to 2^32. */
TEST(ten_million_segments_are_refused)
{
	Elf64_Ehdr h = header();
	Elf64_Shdr first = { .sh_info = 10000000 };
	size_t at_first = in_use();
	struct elfsym *e;
	int fd;

	h.e_phnum = PN_XNUM;
	h.e_phoff = 4096;
	fd = sparse_file(&h, 1 << 30);
	assert_int_equal(pwrite(fd, &first, sizeof(first), 64), (ssize_t)sizeof(first));
	assert_int_equal(elfsym_open(&e, fd), -ENOEXEC);
	h.e_phnum = PN_XNUM - 1;
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
	assert_int_equal(elfsym_open(&e, fd), -ENOEXEC);
	assert_in_range(in_use() - at_first, 0, 1u << 20);
	close(fd);
}

/* Twenty symbol tables of so many bytes each: what they take when functions are looked up. */
static size_t tables_take(uint64_t bytes_each)
{
	Elf64_Ehdr h = header();
	struct elfsym_address a[2] = { { .vaddr = 0x1000 }, { .vaddr = 0x2000 } };
	Elf64_Shdr s[2 + TABLES] = { 0 };
	size_t at_first = in_use(), took;
	struct elfsym *e;
	int fd;

	h.e_shnum = 2 + TABLES;
	fd = sparse_file(&h, (off_t)((TABLES + 2) * bytes_each));
	for (int i = 0; i < TABLES; i++) {
		s[2 + i] = (Elf64_Shdr) {
			.sh_type = SHT_SYMTAB,
			.sh_offset = (Elf64_Off)(i + 1) * bytes_each,
			.sh_size = bytes_each / sizeof(Elf64_Sym) * sizeof(Elf64_Sym),
			.sh_link = 1,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_addralign = 8,
		};
	}
	s[1] = (Elf64_Shdr) { .sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = 4096 };
	assert_int_equal(pwrite(fd, s, sizeof(s), 64), (ssize_t)sizeof(s));
	assert_int_equal(elfsym_open(&e, fd), 0);
	elfsym_find(e, a, 2);
	took = in_use() - at_first;
	elfsym_close(e);
	close(fd);
	return took;
}

TEST(twenty_symbol_tables_take_no_more_than_a_large_one)
{
	/* Eight of them are read, and no more than 512 MiB. */
	assert_in_range(tables_take(8u << 20), FIGURES, 72u << 20);
	assert_in_range(tables_take(128u << 20), FIGURES, 520u << 20);
}

/* Unpacked, a section of a few bytes has any size. */
TEST(compressed_names_are_not_unpacked)
{
	static const char names[] = "\0.symtab";
	Elf64_Ehdr h = header();
	struct elfsym_address a = { .vaddr = 0x1000 };
	Elf64_Chdr packed = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1u << 30, .ch_addralign = 1 };
	Elf64_Shdr s[3] = { 0 };
	size_t at_first = in_use();
	struct elfsym *e;
	int fd;

	h.e_shnum = 3;
	h.e_shstrndx = 1;
	fd = sparse_file(&h, 1 << 20);
	s[1] = (Elf64_Shdr) {
		.sh_type = SHT_STRTAB,
		.sh_flags = SHF_COMPRESSED,
		.sh_offset = 4096,
		.sh_size = 4096,
		.sh_addralign = 8,
	};
	s[2] = (Elf64_Shdr) {
		.sh_name = 1u << 20, /* lies beyond the packed bytes */
		.sh_type = SHT_SYMTAB,
		.sh_offset = 8192,
		.sh_size = 64 * sizeof(Elf64_Sym),
		.sh_link = 1,
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_addralign = 8,
	};
	assert_int_equal(pwrite(fd, s, sizeof(s), 64), (ssize_t)sizeof(s));
	assert_int_equal(pwrite(fd, &packed, sizeof(packed), 4096), (ssize_t)sizeof(packed));
	assert_int_equal(pwrite(fd, names, sizeof(names), 4096 + sizeof(packed)), sizeof(names));
	assert_int_equal(elfsym_open(&e, fd), 0);
	elfsym_find(e, &a, 1);
	elfsym_find_bounds(e, &a, 1);
	assert_in_range(in_use() - at_first, FIGURES, 4u << 20);
	elfsym_close(e);
	close(fd);
}
