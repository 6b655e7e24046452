// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_stacks WHAT [FILE [MS]] - sleeps again and again, for MS each (default: 2), in odd_naps(),
 * which odd_middle() calls, which odd_begins() calls; where the stack is, or what the stack pointer
 * says, is WHAT:
 *
 *     plain      in the main thread
 *     file       in a mapping of FILE, shared; memfd: in one of a file without a name
 *     writable   in memory that is executable as well
 *     low        in the lowest page that there is; high: in the highest one
 *     grows      in memory that grows down
 *     handler    in a handler of a signal that came in odd_middle(), on a stack of its own
 *     coroutine  in one of two coroutines, one of which is always left in its middle
 *     faults     in memory whose pages another thread gives, but only to who writes there
 *     odd        the stack pointer is odd in the system call
 *     wild       it is anywhere, at a new place each time
 *     circle     the frame pointer points to itself, and there are no rules
 *     compat     in 32-bit code in the same process
 *     int80      by a 32-bit system call of 64-bit code
 *
 * Prints "ready" before it sleeps. Exit status 77: this cannot be done here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)

static struct timespec nap = { .tv_nsec = 2000000 };
static const char *what = "plain";
/* How odd_naps() sleeps; what is below it is the matter of WHAT. */
static void (*sleeps)(void);

static _Noreturn void cannot(const char *why)
{
	printf("%s: %s: %s\n", what, why, strerror(errno));
	exit(77);
}

static void sleep_plainly(void)
{
	nanosleep(&nap, NULL);
}

/* ---- the functions whose names are known ---------------------------------------------------- */

__attribute__((noinline)) static void odd_naps(void)
{
	sleeps();
	__asm__ volatile("");
}

__attribute__((noinline)) static void odd_middle(void (*inner)(void))
{
	char room[512];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	inner();
	__asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) static void *odd_begins(void *inner)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		odd_middle((void (*)(void))(uintptr_t)inner);
	return NULL;
}

static void *run(void)
{
	return odd_begins((void *)(uintptr_t)odd_naps);
}

/* ---- where the stack is ---------------------------------------------------------------------- */

static void run_in(char *stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (stack == MAP_FAILED)
		cannot("mmap");
	pthread_attr_init(&attr);
	errno = pthread_attr_setstack(&attr, stack, STACK_BYTES);
	if (!errno)
		errno = pthread_create(&thread, &attr, odd_begins, (void *)(uintptr_t)odd_naps);
	if (errno)
		cannot("pthread_create");
	pthread_join(thread, NULL);
}

static char *map_at(uintptr_t at, int prot, int flags, int fd)
{
	return mmap((void *)at, STACK_BYTES, prot, flags | (at ? MAP_FIXED_NOREPLACE : 0), fd, 0);
}

static void run_in_file(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
		      : memfd_create("stack", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, STACK_BYTES))
		cannot("open");
	run_in(map_at(0, PROT_READ | PROT_WRITE, MAP_SHARED, fd));
}

/* Below the address where the kernel's begin, as high as there is room. */
static char *map_highest(void)
{
	char *stack = MAP_FAILED;

	for (uintptr_t end = 0x7ffffffff000; stack == MAP_FAILED && end > 0x7fff00000000;
	     end -= 4096)
		stack = map_at(end - STACK_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return stack;
}

/* ---- handlers, coroutines -------------------------------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
	odd_naps();
}

__attribute__((noinline)) static void odd_raises(void)
{
	raise(SIGUSR1);
}

static void run_in_handler(void)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t other = { .ss_size = STACK_BYTES };

	other.ss_sp = map_at(0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (other.ss_sp == MAP_FAILED || sigaltstack(&other, NULL) ||
	    sigaction(SIGUSR1, &act, NULL))
		cannot("sigaltstack");
	odd_begins((void *)(uintptr_t)odd_raises);
}

static ucontext_t coroutines[2];
static unsigned int current;

__attribute__((noinline)) static void odd_swaps(void)
{
	unsigned int from = current;

	odd_naps();
	current = !from;
	swapcontext(&coroutines[from], &coroutines[!from]);
}

static void coroutine(void)
{
	odd_begins((void *)(uintptr_t)odd_swaps);
}

static void run_coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		ucontext_t *c = &coroutines[i];

		getcontext(c);
		c->uc_stack.ss_sp =
			map_at(0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		c->uc_stack.ss_size = STACK_BYTES;
		makecontext(c, coroutine, 0);
	}
	setcontext(&coroutines[0]);
}

/* ---- pages that another thread gives --------------------------------------------------------- */

static int faults;

/* Only to who writes: the program writes to its stack before it reads there. */
static void *give_pages(void *unused)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct uffd_msg m;

	(void)unused;
	while (read(faults, &m, sizeof(m)) == sizeof(m)) {
		struct uffdio_copy copy = {
			.dst = m.arg.pagefault.address & ~UINT64_C(4095),
			.src = (uintptr_t)page,
			.len = sizeof(page),
		};

		if (m.event == UFFD_EVENT_PAGEFAULT &&
		    m.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE)
			ioctl(faults, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static void run_with_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *stack = map_at(0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pthread_t giver;

	range.range.start = (uintptr_t)stack;
	range.range.len = STACK_BYTES;
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || stack == MAP_FAILED || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range) ||
	    pthread_create(&giver, NULL, give_pages, NULL))
		cannot("userfaultfd");
	run_in(stack);
}

/* ---- what the stack pointer says ------------------------------------------------------------- */

#if defined(__x86_64__)
/* nanosleep() with that stack pointer. */
static void sleep_at(uint64_t sp)
{
	register uint64_t r10 __asm__("r10") = sp;
	long ret = SYS_nanosleep;

	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "mov %%r10, %%rsp\n\t"
			 "syscall\n\t"
			 "mov %%r12, %%rsp"
			 : "+a"(ret)
			 : "D"(&nap), "S"(0), "r"(r10)
			 : "rcx", "r11", "r12", "memory");
}

static void sleep_oddly(void)
{
	sleep_at((uintptr_t)__builtin_frame_address(0) - 1027);
}

static void sleep_anywhere(void)
{
	static const uint64_t at[] = {
		0,
		1,
		8,
		4095,
		0x7ffffffff000,
		0x7fffffffefff,
		0x7ffffffffff8,
		0x800000000000,
		0x8000000000000000,
		0xffff800000000000,
		0xffffffff81000000,
		UINT64_MAX,
		UINT64_MAX - 7,
	};
	static unsigned int n;

	n = n * 1103515245 + 12345;
	sleep_at(n >> 16 & 1 ? at[(n >> 17) % (sizeof(at) / sizeof(at[0]))]
			     : (uintptr_t)&sleep_at + (n >> 17) % 65536);
}

/* Without rules: the frame pointer is followed. */
__asm__(".text\n.type in_a_circle, @function\nin_a_circle:\n"
	"	push %rbp\n	sub $64, %rsp\n	mov %rsp, %rbp\n	mov %rbp, (%rbp)\n"
	"	lea in_a_circle(%rip), %rax\n	mov %rax, 8(%rbp)\n"
	"	mov $35, %eax\n	xor %esi, %esi\n	syscall\n"
	"	add $64, %rsp\n	pop %rbp\n	ret\n.size in_a_circle, .-in_a_circle");
void in_a_circle(const struct timespec *ts);

static void sleep_in_a_circle(void)
{
	in_a_circle(&nap);
}

/* What 32-bit code can reach: the time, and code; its struct timespec has 32-bit members. */
static struct compat {
	int32_t nap[2];
	uint8_t code[64];
} * compat;

static void map_compat(void)
{
	/* mov $162, %eax (nanosleep); xor %ecx, %ecx; int $0x80; ljmp $0x33, what follows; 64-bit:
	 * jmp *%r13 */
	uint8_t code[] = { 0xb8, 162, 0, 0, 0,	  0x31, 0xc9, 0xcd, 0x80, 0xea,
			   0,	 0,   0, 0, 0x33, 0,	0x41, 0xff, 0xe5 };
	uint32_t next;

	compat = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (compat == MAP_FAILED)
		cannot("mmap");
	compat->nap[1] = (int32_t)nap.tv_nsec;
	next = (uint32_t)(uintptr_t)compat->code + 16;
	memcpy(code + 10, &next, sizeof(next));
	memcpy(compat->code, code, sizeof(code));
}

static void sleep_int80(void)
{
	long ret = 162;

	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(compat->nap), "c"(0)
			 : "r8", "r9", "r10", "r11", "memory");
}

/* By a far return into the segment of 32-bit code, on a stack that it can reach: the upper end of
 * that page. */
static void sleep_in_32_bits(void)
{
	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "lea 1f(%%rip), %%r13\n\t"
			 "mov %0, %%rsp\n\t"
			 "pushq $0x23\n\t"
			 "push %1\n\t"
			 "lretq\n"
			 "1:	mov %%r12, %%rsp"
			 :
			 : "r"((char *)compat + 4096), "r"(compat->code), "b"(compat->nap)
			 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "memory");
}

static void choose_pointer(void)
{
	if (!strcmp(what, "odd"))
		sleeps = sleep_oddly;
	if (!strcmp(what, "wild"))
		sleeps = sleep_anywhere;
	if (!strcmp(what, "circle"))
		sleeps = sleep_in_a_circle;
	if (!strcmp(what, "int80"))
		sleeps = sleep_int80;
	if (!strcmp(what, "compat"))
		sleeps = sleep_in_32_bits;
	if (sleeps == sleep_int80 || sleeps == sleep_in_32_bits)
		map_compat();
}
#else
static void choose_pointer(void)
{
	static const char *const of_x86[] = { "odd", "wild", "circle", "int80", "compat" };

	for (size_t i = 0; i < sizeof(of_x86) / sizeof(of_x86[0]); i++)
		if (!strcmp(what, of_x86[i]))
			cannot("x86-64 only");
}
#endif

int main(int argc, char **argv)
{
	const int rw = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;

	if (argc > 1)
		what = argv[1];
	if (argc > 3)
		nap.tv_nsec = atol(argv[3]) * 1000000;
	choose_pointer();
	if (!sleeps)
		sleeps = sleep_plainly;
	if (!strcmp(what, "file"))
		run_in_file(argc > 2 ? argv[2] : "stack");
	else if (!strcmp(what, "memfd"))
		run_in_file(NULL);
	else if (!strcmp(what, "writable"))
		run_in(map_at(0, rw | PROT_EXEC, own, -1));
	else if (!strcmp(what, "low"))
		run_in(map_at(65536, rw, own, -1));
	else if (!strcmp(what, "high"))
		run_in(map_highest());
	else if (!strcmp(what, "grows"))
		run_in(map_at(0, rw, own | MAP_GROWSDOWN, -1));
	else if (!strcmp(what, "handler"))
		run_in_handler();
	else if (!strcmp(what, "coroutine"))
		run_coroutines();
	else if (!strcmp(what, "faults"))
		run_with_faults();
	else
		run();
	return 0;
}
