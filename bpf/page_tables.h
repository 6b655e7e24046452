/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_tables.h - the user memory of a thread that is not running, by its page tables and the
 * kernel's own map of all memory, the direct map; no call of the kernel reads it where interrupts
 * are off. What is not there, or not mapped so, is not read. Part of chaincap.bpf.c.
 */
#pragma once

/* Where the direct map begins; 0: not known, as of tables with five levels. See find_direct_map().
 */
volatile __u64 direct_map = 0;

#if defined(__TARGET_ARCH_x86)

#define PAGE_TABLES true
#define ENTRY_PRESENT 1u
#define ENTRY_IS_PAGE 0x80u /* in the second or third level: of 1 GiB or 2 MiB */
#define ENTRY_ADDRESS 0x000ffffffffff000ull

static __always_inline __u64 table_entry(__u64 table, __u64 addr, __u32 shift)
{
	__u64 entry = 0;

	if (bpf_probe_read_kernel(&entry, sizeof(entry),
				  (void *)(table + (addr >> shift & 511) * 8)))
		return 0;
	return entry & ENTRY_PRESENT ? entry : 0;
}

/*
 * Where the kernel maps what the tables at pgd map at addr, if its direct map begins at base; 0: it
 * is not there.
 */
__noinline __u64 mapped_at(__u64 base, __u64 pgd, __u64 addr)
{
	__u64 entry = table_entry(pgd, addr, 39);

	if (!entry)
		return 0;
	entry = table_entry(base + (entry & ENTRY_ADDRESS), addr, 30);
	if (entry & ENTRY_IS_PAGE)
		return base + (entry & ENTRY_ADDRESS & ~0x3fffffffull) + (addr & 0x3fffffff);
	if (entry)
		entry = table_entry(base + (entry & ENTRY_ADDRESS), addr, 21);
	if (entry & ENTRY_IS_PAGE)
		return base + (entry & ENTRY_ADDRESS & ~0x1fffffull) + (addr & 0x1fffff);
	if (entry)
		entry = table_entry(base + (entry & ENTRY_ADDRESS), addr, 12);
	return entry ? base + (entry & ENTRY_ADDRESS) + (addr & (STACK_PAGE - 1)) : 0;
}

#else

#define PAGE_TABLES false

static __always_inline __u64 mapped_at(__u64 base, __u64 pgd, __u64 addr)
{
	(void)base, (void)pgd, (void)addr;
	return 0;
}

#endif

/* Copies the words of a page, from addr on, to the end of the page at most. False: not there. */
static __always_inline bool read_by_pages(void *to, __u32 bytes, __u64 pgd, __u64 addr)
{
	__u64 at = addr < USER_END ? mapped_at(direct_map, pgd, addr) : 0;

	return at && !bpf_probe_read_kernel(to, bytes, (void *)at);
}

/* ---- where the direct map begins ------------------------------------------------------------ */

/*
 * Set by the collector: the address of a word that it has just written, and of one that was taken
 * from its tables again.
 */
volatile __u64 page_there = 0, page_gone = 0;
/* The address of its page table. */
volatile __u64 page_table = 0;

/* It begins at a multiple of this, less than this many of which lie before any memory. */
#define DIRECT_MAP_STEP (1ull << 30)
#define DIRECT_MAP_STEPS (OLDER ? 1 : 1 << 14)

struct direct_map_search {
	__u64 pgd, word; /* the word: at page_there */
};

/*
 * The page table itself lies in it: there its own entries have to say that it does. From a wrong
 * beginning these are anybody's memory, where a small number may say so, too: the collector's own
 * words have to be where they are.
 */
static long try_direct_map(__u32 i, struct direct_map_search *s)
{
	__u64 base = (s->pgd & ~(DIRECT_MAP_STEP - 1)) - i * DIRECT_MAP_STEP, word = 0;

	if (mapped_at(base, s->pgd, s->pgd) != s->pgd)
		return 0;
	direct_map = base;
	if (read_by_pages(&word, sizeof(word), s->pgd, page_there) && word == s->word &&
	    !read_by_pages(&word, sizeof(word), s->pgd, page_gone))
		return 1;
	direct_map = 0;
	return 0;
}

LOOP(try_direct_map, struct direct_map_search, DIRECT_MAP_STEPS)

/* Run by the collector: finds direct_map, and tries it at its own memory. */
SEC("raw_tp")
int find_direct_map(void *ctx)
{
	struct mm_struct *mm = OF(UNTRUSTED(task_struct, current_task()), mm);
	struct direct_map_search s = { .pgd = 0 };

	(void)ctx;
	if (OLDER || PLAIN || !PAGE_TABLES || !mm)
		return 0;
	s.pgd = number_of(&page_table, (__u64)FIELD(mm_struct, mm, pgd));
	if (!bpf_probe_read_user(&s.word, sizeof(s.word), (void *)page_there))
		loop_try_direct_map(&s);
	return 0;
}
