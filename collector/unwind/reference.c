// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/reference.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clean_text.h"
#include "kernel/address.h"
#include "unwind/rule.h"
#include "unwind/unwind.h"

#define PROCESSES 32u
#define FRAMES_MAX (2 * WIRE_STACK_MAX)

/* A process with its mappings at one time; new mappings give it another space. */
struct process {
	uint64_t space;
	uint32_t image;
	uint64_t used; /* 0: free */
	Dwfl *dwfl;    /* NULL: it had exited */
};

struct reference {
	struct process processes[PROCESSES];
	uint64_t uses;
	const struct wire_copy *copy; /* being unwound */
	bool left_copy;		      /* the stack continues beyond it, */
	uint32_t sure;		      /* so only as many frames do not depend on a guess */
	__u64 frames[FRAMES_MAX];
	uint32_t n;
};

int reference_new(struct reference **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void reference_free(struct reference *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < PROCESSES; i++)
		if (r->processes[i].dwfl)
			dwfl_end(r->processes[i].dwfl);
	free(r);
}

/* ---- callbacks of libdwfl ------------------------------------------------------------------ */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct reference *r = arg;

	(void)dwfl;
	if (unwinder_copy_word(r->copy, addr, word))
		return true;
	/* libdwfl may mistake this for the stack's end, or go on by the frame pointer. */
	if (!r->left_copy)
		r->sure = r->n;
	r->left_copy = true;
	return false;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct wire_copy *c = ((struct reference *)arg)->copy;
	Dwarf_Word words[UNWIND_REGISTERS];

	for (unsigned int i = 0; i < UNWIND_REGISTERS; i++)
		words[i] = c->regs[i];
	dwfl_thread_state_register_pc(thread, c->regs[UNWIND_PC]);
	return dwfl_thread_state_registers(thread, 0, UNWIND_REGISTERS, words);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct reference *r = arg;
	Dwarf_Addr pc;

	if (r->n == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	r->frames[r->n++] = address_plain_user(pc);
	return DWARF_CB_OK;
}

/* ---- processes ----------------------------------------------------------------------------- */

/*
 * Opens what is mapped at base, by the mapping itself: the name may be another file for this
 * process, whose root is another, or by now.
 */
static int find_mapped(Dwfl_Module *module, void **pid, const char *name, Dwarf_Addr base,
		       char **file_name, Elf **elf)
{
	char path[80];
	unsigned long start, end;
	struct stat st;
	int fd = -1;
	FILE *maps;

	if (*name != '/') /* the vDSO: from the process's memory */
		return dwfl_linux_proc_find_elf(module, pid, name, base, file_name, elf);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)(intptr_t)*pid);
	maps = fopen(path, "re");
	while (maps && fscanf(maps, "%lx-%lx%*[^\n]", &start, &end) == 2) {
		if (start != base)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)(intptr_t)*pid,
			 start, end);
		if (!stat(path, &st) && S_ISREG(st.st_mode)) /* and no device */
			fd = open(path, O_RDONLY | O_CLOEXEC);
		break;
	}
	if (maps)
		fclose(maps);
	if (fd >= 0)
		*file_name = strdup(name);
	return fd;
}

/* Opens its file at once, while the process is there. */
static int open_module(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start,
		       void *pid)
{
	GElf_Addr bias;

	(void)name;
	(void)start;
	*userdata = pid;
	dwfl_module_getelf(module, &bias);
	return DWARF_CB_OK;
}

/* Opens the process's files by name, as a debugger does; or by_mapping, which takes longer. */
static Dwfl *open_process(struct reference *r, pid_t pid, bool by_mapping)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks files[] = {
		{
			.find_elf = dwfl_linux_proc_find_elf,
			.find_debuginfo = dwfl_standard_find_debuginfo,
			.debuginfo_path = &debuginfo_path,
		},
		{
			.find_elf = find_mapped,
			.find_debuginfo = dwfl_standard_find_debuginfo,
			.debuginfo_path = &debuginfo_path,
		},
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread,
		.get_thread = get_thread,
		.memory_read = read_memory,
		.set_initial_registers = set_registers,
	};
	Dwfl *dwfl = dwfl_begin(&files[by_mapping]);

	/* The modules first, as dwfl_attach_state() opens some itself. */
	if (dwfl && !dwfl_linux_proc_report(dwfl, pid) && !dwfl_report_end(dwfl, NULL, NULL) &&
	    !(by_mapping && dwfl_getmodules(dwfl, open_module, (void *)(intptr_t)pid, 0)) &&
	    dwfl_attach_state(dwfl, NULL, pid, &threads, r))
		return dwfl;
	if (dwfl)
		dwfl_end(dwfl);
	return NULL;
}

static void drop_process(struct process *p)
{
	if (p->dwfl)
		dwfl_end(p->dwfl);
	*p = (struct process) { 0 };
}

static struct process *find_process(struct reference *r, const struct wire_copy *c, uint32_t image,
				    bool by_mapping)
{
	struct process *oldest = r->processes;

	for (struct process *p = r->processes; p < r->processes + PROCESSES; p++) {
		if (p->used && p->space == c->space && p->image == image) {
			p->used = ++r->uses;
			return p;
		}
		if (p->used < oldest->used)
			oldest = p;
	}
	drop_process(oldest);
	*oldest = (struct process) {
		.space = c->space,
		.image = image,
		.used = ++r->uses,
		.dwfl = open_process(r, (pid_t)c->tgid, by_mapping),
	};
	return oldest;
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* False if these are not the mappings that the stack is from: after an exec. */
static bool has_code(Dwfl *dwfl, const __u64 *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!dwfl_addrmodule(dwfl, wire_address(frames[i])))
			return false;
	return true;
}

static bool has_rule(Dwfl *dwfl, const __u64 *frames, uint32_t i)
{
	uint64_t addr = wire_address(frames[i]);
	Dwfl_Module *module = dwfl_addrmodule(dwfl, addr);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr - (i > 0) - bias, &frame))
		return false;
	free(frame);
	return true;
}

/* Whether libdwfl has rules for the first n frames; without one it guesses by the frame pointer. */
static enum reference_result judge(Dwfl *dwfl, const __u64 *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!has_rule(dwfl, frames, i))
			return REFERENCE_NONE;
	return REFERENCE_DIFFERS;
}

static enum reference_result compare(struct reference *r, Dwfl *dwfl, const __u64 *frames,
				     uint32_t n, bool is_whole)
{
	bool whole;
	uint32_t both;

	if (!dwfl || !has_code(dwfl, frames, n))
		return REFERENCE_NONE;
	r->n = 0;
	r->left_copy = false;
	whole = !dwfl_getthread_frames(dwfl, 1, take_frame, r) && !r->left_copy;
	if (r->left_copy)
		r->n = r->sure;
	both = r->n < n ? r->n : n;
	/* The leaf alone proves nothing, unless it is the whole stack. */
	if (!both || (both == 1 && !(whole && is_whole)))
		return REFERENCE_NONE;
	for (uint32_t i = 1; i < both; i++)
		if (r->frames[i] != wire_address(frames[i]))
			return judge(dwfl, frames, i);
	return whole && is_whole && r->n != n ? judge(dwfl, frames, both) : REFERENCE_SAME;
}

enum reference_result reference_compare(struct reference *r, const struct wire_copy *c,
					uint32_t image, const __u64 *frames, uint32_t n,
					uint32_t end)
{
	enum reference_result result;
	struct process *p;

	if (end == CHAINLOG_STACK_GUESSED)
		return REFERENCE_NONE;
	r->copy = c;
	p = find_process(r, c, image, false);
	result = compare(r, p->dwfl, frames, n, end == CHAINLOG_STACK_WHOLE);
	if (result != REFERENCE_DIFFERS)
		return result;
	/* Read in the middle of an exec, or other files have these names for that process. */
	drop_process(p);
	p = find_process(r, c, image, true);
	return compare(r, p->dwfl, frames, n, end == CHAINLOG_STACK_WHOLE);
}

/* ---- what differs -------------------------------------------------------------------------- */

static void print_way(const struct wire_copy *c, uint32_t n, uint32_t end)
{
	static const char *const ends[CHAINLOG_STACK_ENDS] = { "unknown",    "whole",	"depth",
							       "unreadable", "no rule", "guessed" };
	static const char *const known[] = { "not known before", "known before",
					     "known before as another stack" };

	fprintf(stderr, "  %u frames (end: %s), ", n, end < CHAINLOG_STACK_ENDS ? ends[end] : "?");
	if (c->id)
		fprintf(stderr, "completed by the recorder from frame %u on\n", c->n - 1);
	else
		fprintf(stderr, "by the rules of the BPF side, the last of kind %u; %s\n",
			c->last_rule, c->known <= WIRE_KNOWN_AS_OTHER ? known[c->known] : "?");
}

static void print_frame(struct symbolizer *sym, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct symbolizer_code code;

	fprintf(stderr, " %" PRIx64, addr);
	if (!symbolizer_code(sym, space, addr, time_ns, &code))
		return;
	putc(' ', stderr);
	print_clean(stderr, code_files_path(symbolizer_files(sym), code.file));
	fprintf(stderr, "+%" PRIx64, code.offset);
}

void reference_print(const struct reference *r, struct symbolizer *sym, const struct wire_copy *c,
		     const __u64 *frames, uint32_t n, uint32_t end)
{
	uint32_t space = symbolizer_space(sym, c->tgid, c->r.time_ns);

	fprintf(stderr, "chaincap: process %u, thread %u at %.6f s: a stack differs\n", c->tgid,
		c->tid, (double)c->r.time_ns / 1e9);
	print_way(c, n, end);
	for (uint32_t i = 0; i < n || i < r->n; i++) {
		bool same = i < n && i < r->n && wire_address(frames[i]) == r->frames[i];

		fprintf(stderr, "  %c %2u:", same ? ' ' : '!', i);
		if (i < n)
			print_frame(sym, space, wire_address(frames[i]), c->r.time_ns);
		if (!same) {
			fputs(" | other:", stderr);
			if (i < r->n)
				print_frame(sym, space, r->frames[i], c->r.time_ns);
		}
		fputc('\n', stderr);
	}
}
