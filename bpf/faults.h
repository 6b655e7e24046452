/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - the mapped file for which a thread sleeps in a page fault. Part of objects.h.
 *
 * A fault has no arguments, and no probe is put on faults: most of them do not sleep. But while one
 * is being handled its struct vm_fault lies on the thread's kernel stack, a few frames from the
 * root (handle_mm_fault()). What looks like one is one only if all of it fits together: a mapping
 * of this very address space, an address in it, and the page of the file that belongs to the
 * address.
 */
#ifndef BPF_FAULTS_H
#define BPF_FAULTS_H

#define FAULT_WORDS 192 /* of 8 bytes: how far from the root it is looked for */

/* The struct file that is mapped where a fault is being handled; 0: this is no such struct. */
static __always_inline __u64 mapped_by(__u64 fault, __u64 mm)
{
	__u64 vma = POINTER(vm_fault, fault, vma), at, start;

	/* A kernel address, of a struct with pointers. */
	if ((__s64)vma >= 0 || vma & 7 || (__u64)FIELD(vm_area_struct, vma, vm_mm) != mm)
		return 0;
	at = FIELD(vm_fault, fault, address);
	start = FIELD(vm_area_struct, vma, vm_start);
	if (at < start || at >= FIELD(vm_area_struct, vma, vm_end))
		return 0;
	if (FIELD(vm_fault, fault, pgoff) !=
	    FIELD(vm_area_struct, vma, vm_pgoff) + (at - start) / page_size)
		return 0;
	return POINTER(vm_area_struct, vma, vm_file);
}

struct fault_search {
	__u64 at, mm, file;
};

static long look_at_word(__u32 i, struct fault_search *s)
{
	(void)i;
	s->at -= 8;
	s->file = mapped_by(s->at, s->mm);
	return s->file != 0;
}

/*
 * The struct file for which a thread sleeps that did not enter the kernel by a system call; 0:
 * none. regs: the registers of its user code, at the root of its kernel stack.
 */
__noinline __u64 faulted_file(__u64 regs, __u64 mm)
{
	struct fault_search s = { .at = regs, .mm = mm };

	/* A loop of its own would be verified word by word. */
	bpf_loop(FAULT_WORDS, look_at_word, &s, 0);
	return s.file;
}

#endif /* BPF_FAULTS_H */
