// SPDX-License-Identifier: GPL-2.0-or-later
/* From an address to the name in the trace: this process's own code, and the kernel's. */
#define OWN_MAIN
#include "test.h"

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolized_trace.h"

static char self_exe[4096];

__attribute__((noinline)) static int a_function_of_our_own(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

TEST(functions_of_what_ran_before_are_named)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t libc = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "getppid");
	uint32_t own = seen(t, getpid(), (uint64_t)(uintptr_t)a_function_of_our_own + 2),
		 lib = seen(t, getpid(), libc + 1);
	struct name n;

	finish(t);
	expect(t, own, "a_function_of_our_own", self_exe, 2);
	n = name_of(t, lib);
	assert_string_equal(n.symbol ? n.symbol : "none", "getppid");
	assert_non_null(strstr(n.module, "libc"));
	assert_int_equal(n.offset, 1);
	assert_true(n.build_id_len >= 8);
	assert_int_equal(t->stats.user_frames, 2);
	assert_int_equal(t->stats.user_named, 2);
	assert_int_equal(t->stats.files_read, 2);
	end(t);
}

TEST(a_library_loaded_later_is_named)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	uint64_t addr;
	uint32_t frame;
	struct name n;

	assert_non_null(lib);
	addr = (uint64_t)(uintptr_t)dlsym(lib, "fegetround");
	assert_true(addr != 0);
	frame = seen(t, getpid(), addr + 1);
	dlclose(lib); /* the file counts, not what is there at the end */
	finish(t);
	n = name_of(t, frame);
	assert_string_equal(n.symbol ? n.symbol : "none", "fegetround");
	assert_non_null(strstr(n.module, "libm"));
	end(t);
}

TEST(the_vdso_is_named)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	bool found = false;
	uint32_t first = 0, last = 0;

	if (!start) {
		print_message("this kernel gives no vdso\n");
		end(t);
		skip();
	}
	for (uint64_t at = 0; at < 4096; at += 16) {
		last = seen(t, getpid(), start + at);
		first = first ? first : last;
	}
	finish(t);
	for (uint32_t f = first; f <= last; f++) {
		struct name n = name_of(t, f);

		if (n.symbol && strstr(n.symbol, "clock_gettime")) {
			assert_string_equal(n.module, "[vdso]");
			found = true;
		}
	}
	assert_true(found);
	end(t);
}
TEST(generated_code_is_named_by_the_perf_map)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint8_t *code =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addr = (uint64_t)(uintptr_t)code;
	char map[64];
	uint32_t in, out, entry;
	FILE *f;

	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(mprotect(code, 8192, PROT_READ | PROT_EXEC), 0);
	in = seen(t, getpid(), addr + 0x20);
	out = seen(t, getpid(), addr + 0x900);
	entry = seen(t, getpid(), addr + 0x210);
	/* Written at the end, as some runtimes do. */
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	f = fopen(map, "w");
	assert_non_null(f);
	fprintf(f, "%" PRIx64 " 100 LRU::get\n%" PRIx64 " 10 _ZN1A1bEv\n", addr, addr + 0x200);
	fclose(f);
	finish(t);
	unlink(map);
	expect(t, in, "LRU::get", map, 0x20);
	expect(t, entry, "A::b", map, 0x10);
	assert_null(name_of(t, out).symbol);
	assert_int_equal(t->stats.no_symbol, 1);
	munmap(code, 8192);
	end(t);
}

TEST(what_cannot_be_named_is_counted_by_its_reason)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t anon, nowhere, space;

	assert_ptr_not_equal(code, MAP_FAILED);
	anon = seen(t, getpid(), (uint64_t)(uintptr_t)code + 8);
	nowhere = seen(t, getpid(), 0x10);
	space = symbolizer_space(t->s, (uint32_t)getpid(), now_ns());
	assert_true(symbolizer_is_code(t->s, space, (uint64_t)(uintptr_t)code + 8, now_ns()));
	assert_false(symbolizer_is_code(t->s, space, 0x10, now_ns()));
	assert_false(symbolizer_is_code(t->s, space, (uint64_t)(uintptr_t)&space, now_ns()));
	finish(t);
	assert_null(name_of(t, anon).symbol);
	assert_string_equal(name_of(t, anon).module, "//anon");
	assert_null(name_of(t, nowhere).symbol);
	assert_int_equal(t->stats.no_perf_map, 1);
	assert_int_equal(t->stats.unmapped, 1);
	assert_int_equal(t->stats.user_named, 0);
	munmap(code, 4096);
	end(t);
}

static uint64_t kernel_address(const char *name)
{
	char line[512], found[256];
	uint64_t addr = 0, at = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	assert_non_null(f);
	while (!addr && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 && !strcmp(found, name))
			addr = at;
	fclose(f);
	return addr;
}

/* A program can jump to any byte of what it has mapped; others' functions have names as before. */
TEST(frames_of_one_process_have_a_limit)
{
	struct trace *t = begin(SYMBOLIZER_USER);
	const size_t len = (1u << 20) + 100;
	uint8_t *code = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t frame;

	assert_true(code != MAP_FAILED);
	for (size_t i = 0; i < len; i++)
		assert_int_not_equal(seen(t, getpid(), (uint64_t)(uintptr_t)code + i), 0);
	frame = seen(t, getpid(), (uint64_t)(uintptr_t)a_function_of_our_own + 1);
	finish(t);
	assert_int_equal(t->stats.too_many, 100);
	assert_int_equal(t->stats.no_perf_map, 1u << 20);
	expect(t, frame, "a_function_of_our_own", self_exe, 1);
	munmap(code, len);
	end(t);
}

/* Of processes that run at as many addresses as one may; each is a copy of this one. */
TEST(frames_of_all_processes_have_a_limit)
{
	enum { PROCESSES = 9 };
	struct trace *t = begin(SYMBOLIZER_USER);
	const uint32_t each = (1u << 20) - 1000;
	uint8_t *code = mmap(NULL, each, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t now, first = (uint64_t)(uintptr_t)code;
	pid_t pids[PROCESSES];

	assert_true(code != MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++) {
		uint32_t space;

		pids[i] = fork_child();
		if (!pids[i]) {
			pause();
			_exit(0);
		}
		now = now_ns();
		space = symbolizer_space(t->s, (uint32_t)pids[i], now);
		assert_true(space != 0);
		for (uint32_t k = 0; k < each; k++)
			symbolizer_frame(t->s, 1, space, first + k, now);
	}
	assert_int_not_equal(seen(t, getpid(), (uint64_t)(uintptr_t)a_function_of_our_own + 1), 0);
	finish(t);
	assert_int_equal(t->stats.too_many, PROCESSES * each + 1 - (8u << 20));
	assert_int_equal(t->stats.no_perf_map, 8u << 20);
	for (int i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	munmap(code, each);
	end(t);
}

TEST(kernel_functions_are_named_at_once)
{
	struct trace *t = begin(SYMBOLIZER_KERNEL);
	uint64_t addr = kernel_address("schedule"), stub = kernel_address("bpf_get_stack");
	uint32_t frame, hole;

	if (!addr) {
		print_message("the kernel hides its addresses\n");
		end(t);
		skip();
	}
	frame = encoder_frame(t->enc, 0, addr + 9);
	symbolizer_kernel_frame(t->s, frame, addr + 9, 0);
	assert_int_equal(encoder_flush(t->enc), 0); /* the recorder might be killed now */
	expect(t, frame, "schedule", "[kernel]", 9);
	assert_false(symbolizer_is_tracer_frame(t->s, addr + 9, now_ns()));
	if (stub)
		assert_true(symbolizer_is_tracer_frame(t->s, stub + 9, now_ns()));
	hole = encoder_frame(t->enc, 0, 0xfff);
	symbolizer_kernel_frame(t->s, hole, 0xfff, 0);
	finish(t);
	assert_null(name_of(t, hole).symbol);
	assert_int_equal(t->stats.kernel_frames, 2);
	assert_int_equal(t->stats.kernel_named, 1);
	end(t);
}

void before_the_first(void);
void the_first(void);
/* Nothing lies between the two. */
__asm__(".text\n"
	".globl before_the_first\n.type before_the_first, @function\nbefore_the_first: nop\n"
	".size before_the_first, . - before_the_first\n"
	".globl the_first\n.type the_first, @function\nthe_first: nop\nret\n"
	".size the_first, . - the_first\n");

/* A call that does not return may be the last instruction of the function before it. */
TEST(an_interrupted_instruction_is_in_the_function_that_it_begins)
{
	struct trace *t = begin(SYMBOLIZER_USER | SYMBOLIZER_KERNEL);
	uint64_t addr = kernel_address("schedule"), start = (uintptr_t)the_first;
	uint32_t returns, exact, kernel = 0;

	returns = seen(t, getpid(), start);
	exact = seen(t, getpid(), start ^ WIRE_EXACT);
	assert_int_not_equal(returns, exact);
	if (addr)
		kernel = kernel_seen(t, addr ^ WIRE_EXACT, now_ns());
	finish(t);
	expect(t, returns, "before_the_first", self_exe, start - (uintptr_t)before_the_first);
	expect(t, exact, "the_first", self_exe, 0);
	if (addr)
		expect(t, kernel, "schedule", "[kernel]", 0);
	end(t);
}

/* The kernel tells of it; kallsyms is not read again for a while. */
TEST(a_bpf_program_loaded_later_is_named)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct trace *t = begin(SYMBOLIZER_KERNEL);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "named_later", "GPL", insns, 2, NULL);
	uint64_t addr = 0, at;
	char line[512], found[256], symbol[256] = "";
	uint32_t frame;
	FILE *f;

	f = fopen("/proc/kallsyms", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 &&
		    strstr(found, "_named_later")) {
			addr = at;
			strcpy(symbol, found);
		}
	}
	fclose(f);
	if (fd < 0 || !addr) {
		print_message("no BPF program can be loaded, or it is not compiled\n");
		end(t);
		skip();
	}
	frame = kernel_seen(t, addr + 3, now_ns());
	assert_true(symbolizer_is_tracer_frame(t->s, addr + 3, now_ns()));
	assert_int_equal(encoder_flush(t->enc), 0);
	expect(t, frame, symbol, "[bpf]", 3);
	close(fd);
	end(t);
}
int main(void)
{
	if (readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
