// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shapes.c - shapes that user stacks have, one a case: shapes CASE goes to sleep at the end of such
 * a stack, again and again for a tenth of a second, until it is killed. It prints "ready PID" when
 * it does; PID is the process whose main thread sleeps so. shapes without a case lists them.
 *
 * What a stack has to look like is not written down here: another unwinder (eu-stack) is the judge.
 */
#include <alloca.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define IN_STACK __attribute__((noipa))
#endif
#endif
#ifndef IN_STACK
#define IN_STACK __attribute__((noinline))
#endif

extern char **environ;
static volatile int never;
static char *self;

/* Sleeps for good, at this end of the stack. */
IN_STACK void nap(void)
{
	struct timespec t = { 0, 100000000 };

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		nanosleep(&t, NULL);
}

IN_STACK void plain(void)
{
	nap();
	never++;
}

IN_STACK void recursion_goes_on(int left)
{
	volatile char room[24];

	room[left % 24] = 1;
	if (left)
		recursion_goes_on(left - 1);
	else
		nap();
	never += room[0];
}

IN_STACK void recursion_100(void)
{
	recursion_goes_on(90);
	never++;
}

IN_STACK void recursion_500(void)
{
	recursion_goes_on(490);
	never++;
}

/* ---- frames of a size that is known only when it runs ---------------------------------------- */

IN_STACK void alloca_frame(void)
{
	char *p = alloca((size_t)(never + 1000));

	memset(p, 1, 1000);
	nap();
	never += p[3];
}

IN_STACK void vla_frame(void)
{
	volatile char room[never + 300];

	room[0] = 1;
	nap();
	never += room[0];
}

IN_STACK void large_frame(void)
{
	volatile char room[40000];

	room[0] = room[39999] = 1;
	nap();
	never += room[0];
}

/* ---- calls at the end of a function ---------------------------------------------------------- */

__attribute__((noreturn)) IN_STACK void never_comes_back(void)
{
	nap();
	_exit(1);
}

/* Its last instruction is a call: the return address lies in the function after it. */
IN_STACK void ends_in_a_call(void)
{
	never++;
	never_comes_back();
}

IN_STACK void tail_call(void)
{
	plain(); /* a jump, where the compiler makes it one */
}

/* ---- signals --------------------------------------------------------------------------------- */

static void on_alarm(int sig)
{
	(void)sig;
	nap();
}

static void arm(int flags)
{
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval soon = { .it_value = { 0, 20000 } };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
}

IN_STACK void signal_in_call(void)
{
	arm(0);
	pause();
	never++;
}

IN_STACK void signal_in_code(void)
{
	arm(0);
	while (!never)
		;
	never++;
}

IN_STACK void signal_on_own_stack(void)
{
	stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&s, NULL);
	arm(SA_ONSTACK);
	while (!never)
		;
	never++;
}

/* ---- other stacks than the one the thread began with (musl has no contexts) ------------------ */

#ifdef __GLIBC__
#include <ucontext.h>

static ucontext_t main_context, coroutine_context;

static void coroutine_runs(void)
{
	plain();
}

IN_STACK void coroutine(void)
{
	static char stack[65536];

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = sizeof(stack);
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine_runs, 0);
	swapcontext(&main_context, &coroutine_context);
	never++;
}
#endif

/* ---- children -------------------------------------------------------------------------------- */

/* The child runs on the parent's memory and on its stack while the parent waits in vfork(). */
IN_STACK void vfork_child(void)
{
	pid_t child = vfork();

	if (!child) {
		nap();
		_exit(0);
	}
	never++;
}

IN_STACK void vfork_parent(void)
{
	pid_t child;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		child = vfork();
		if (!child) {
			usleep(100000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static pid_t child;

static void end_child(int sig)
{
	(void)sig;
	kill(child, SIGKILL);
	_exit(0);
}

IN_STACK void spawned(void)
{
	char *args[] = { self, (char *)"plain", NULL };

	signal(SIGTERM, end_child);
	if (!posix_spawn(&child, self, NULL, NULL, args, environ))
		waitpid(child, NULL, 0);
	never++;
}

IN_STACK void forked(void)
{
	signal(SIGTERM, end_child);
	child = fork();
	if (!child) {
		signal(SIGTERM, SIG_DFL);
		nap();
	}
	waitpid(child, NULL, 0);
	never++;
}

IN_STACK void after_exec(void)
{
	char *args[] = { self, (char *)"plain", NULL };

	execv(self, args);
}

/* ---- code without unwinding tables ----------------------------------------------------------- */

/*
 * Calls its argument, has no frame pointer and no table: whoever unwinds must say that it does not
 * know, rather than make something up.
 */
void without_rules(void (*fn)(void));
#if defined(__x86_64__)
__asm__(".text\n"
	".type without_rules, @function\n"
	"without_rules:\n"
	"	sub $40, %rsp\n"
	"	call *%rdi\n"
	"	add $40, %rsp\n"
	"	ret\n"
	".size without_rules, . - without_rules\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".type without_rules, %function\n"
	"without_rules:\n"
	"	sub sp, sp, #48\n"
	"	str x30, [sp, #16]\n"
	"	blr x0\n"
	"	ldr x30, [sp, #16]\n"
	"	add sp, sp, #48\n"
	"	ret\n"
	".size without_rules, . - without_rules\n");
#endif

IN_STACK void assembler(void)
{
	without_rules(plain);
	never++;
}

#if defined(__x86_64__)
/*
 * Calls its argument on a stack that it aligned, with the stack pointer that it was called with
 * saved there, and a table that says so, as libcrypto's assembly code does: the CFA is
 * *(%rsp + 64) + 8, and after that *(%rbp + 64) + 8.
 */
void with_saved_sp(void (*fn)(void));
__asm__(".text\n"
	".type with_saved_sp, @function\n"
	"with_saved_sp:\n"
	".cfi_startproc\n"
	"	mov %rsp, %rax\n"
	".cfi_def_cfa_register %rax\n"
	"	push %rbp\n"
	".cfi_offset %rbp, -16\n"
	"	sub $88, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 64(%rsp)\n"
	".cfi_escape 0x0f, 6, 0x77, 0xc0, 0, 0x06, 0x23, 8\n"
	"	mov %rsp, %rbp\n"
	".cfi_escape 0x0f, 6, 0x76, 0xc0, 0, 0x06, 0x23, 8\n"
	"	call *%rdi\n"
	"	mov 64(%rbp), %rax\n"
	".cfi_def_cfa %rax, 8\n"
	"	mov -8(%rax), %rbp\n"
	".cfi_restore %rbp\n"
	"	mov %rax, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size with_saved_sp, . - with_saved_sp\n");

IN_STACK void saved_sp(void)
{
	with_saved_sp(plain);
	never++;
}

/* Code made at run time, with a frame pointer: push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret.
 */
static const uint8_t made[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

IN_STACK void generated(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	memcpy(p, made, sizeof(made));
	((void (*)(void (*)(void)))(uintptr_t)p)(plain);
	never++;
}
#endif

/* ---- the rest -------------------------------------------------------------------------------- */

static int by_napping(const void *a, const void *b)
{
	(void)a;
	(void)b;
	nap();
	return 0;
}

/* A frame of libc between two of the program's own. */
IN_STACK void called_back(void)
{
	int list[] = { 2, 1 };

	qsort(list, 2, sizeof(*list), by_napping);
	never++;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "plain", plain },
	{ "recursion_100", recursion_100 },
	{ "recursion_500", recursion_500 },
	{ "alloca", alloca_frame },
	{ "vla", vla_frame },
	{ "large_frame", large_frame },
	{ "ends_in_a_call", ends_in_a_call },
	{ "tail_call", tail_call },
	{ "signal_in_call", signal_in_call },
	{ "signal_in_code", signal_in_code },
	{ "signal_on_own_stack", signal_on_own_stack },
#ifdef __GLIBC__
	{ "coroutine", coroutine },
#endif
	{ "vfork_child", vfork_child },
	{ "vfork_parent", vfork_parent },
	{ "spawned", spawned },
	{ "forked", forked },
	{ "after_exec", after_exec },
	{ "assembler", assembler },
#if defined(__x86_64__)
	{ "saved_sp", saved_sp },
	{ "generated", generated },
#endif
	{ "called_back", called_back },
};

int main(int argc, char **argv)
{
	self = realpath("/proc/self/exe", NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc < 2)
			puts(cases[i].name);
		else if (!strcmp(argv[1], cases[i].name))
			cases[i].run();
	return argc >= 2;
}
