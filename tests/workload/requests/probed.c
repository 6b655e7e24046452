// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probed WHAT N: does N times what a probe may mark as a request, and prints "requests R", how many
 * have ended, and "unfinished U", how many have begun and never will.
 *
 *     calls      handle() sleeps for 2 ms, every fifth time for 8 ms; on two threads, N on each
 *     recursion  nested() calls itself three times
 *     jumps      jumping() is left by longjmp(), every second time from a call within it
 *     deaths     dying() ends its thread
 *     execs      becoming() runs another program
 *     marks      begin_job(id) on one thread, end_job(id) on another, many jobs at once
 *     usdt       the same by USDT probes, of which the second has its argument in memory
 *     open       handle() that goes on until SIGTERM, N of them; prints "ready"
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define PROBE __attribute__((noinline))
#else
#define PROBE __attribute__((noinline, noclone))
#endif
/* So that a call is not left out, nor made the last thing of its caller. */
#define KEEP() __asm__ volatile("" ::: "memory")

static int n;

static void pause_for(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void told(int requests, int unfinished)
{
	printf("requests %d\nunfinished %d\n", requests, unfinished);
}

/* ---- calls ---------------------------------------------------------------------------------- */

PROBE int handle(int number, const char *label)
{
	pause_for(number % 5 ? 2000 : 8000);
	KEEP();
	return number + *label;
}

static void *call(void *label)
{
	for (int i = 0; i < n; i++)
		handle(i, label);
	return NULL;
}

static void calls(void)
{
	/* The second one is longer than what is kept of it. */
	static char labels[2][100] = { "first", "\033second" };
	pthread_t threads[2];

	memset(labels[1] + 7, 'x', sizeof(labels[1]) - 8);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, call, labels[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	told(2 * n, 0);
}

PROBE int nested(int depth)
{
	int below = depth ? nested(depth - 1) + nested(depth - 1) : 0;

	pause_for(1000);
	KEEP();
	return below + 1;
}

static void recursion(void)
{
	for (int i = 0; i < n; i++)
		nested(1);
	told(n, 0);
}

/* ---- calls that do not return --------------------------------------------------------------- */

static jmp_buf back;

PROBE int jumping(int deeper)
{
	pause_for(100);
	if (deeper)
		deeper += jumping(0);
	KEEP();
	if (!deeper)
		longjmp(back, 1);
	return deeper;
}

static void jumps(void)
{
	for (volatile int i = 0; i < n; i++)
		if (!setjmp(back))
			jumping(i & 1);
	told(0, n);
}

PROBE void *dying(void *unused)
{
	pause_for(100);
	pthread_exit(unused);
}

static void deaths(void)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		pthread_create(&t, NULL, dying, NULL);
		pthread_join(t, NULL);
	}
	told(0, n);
}

PROBE int becoming(void)
{
	execlp("true", "true", NULL);
	KEEP();
	return 1;
}

static void execs(void)
{
	for (int i = 0; i < n; i++) {
		if (!fork())
			_exit(becoming());
		wait(NULL);
	}
	told(0, n);
}

static void *call_long(void *label)
{
	(void)label;
	KEEP();
	pause();
	return NULL;
}

PROBE int waiting(void)
{
	call_long(NULL);
	KEEP();
	return 1;
}

static void *wait_long(void *unused)
{
	waiting();
	return unused;
}

static void leave_open(void)
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		pthread_create(&t, NULL, wait_long, NULL);
	puts("ready");
	fflush(stdout);
	pause();
}

/* ---- marks ---------------------------------------------------------------------------------- */

#define JOBS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int begun, ended;
static void (*begin)(int id), (*end)(int id);

PROBE void begin_job(int id)
{
	KEEP();
	(void)id;
}

PROBE void end_job(int unused, int id)
{
	KEEP();
	(void)unused;
	(void)id;
}

static void end_function(int id)
{
	end_job(0, id);
	KEEP();
}

/*
 * As <sys/sdt.h> writes them (systemtap's documentation, "UserSpaceProbeImplementation"): a place,
 * no semaphore, and an argument.
 */
#define USDT(name, arg)                                               \
	__asm__ volatile("990: nop\n"                                 \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n" \
			 ".balign 4\n"                                \
			 ".4byte 992f-991f, 994f-993f, 3\n"           \
			 "991: .asciz \"stapsdt\"\n"                  \
			 "992: .balign 4\n"                           \
			 "993: .8byte 990b\n"                         \
			 ".8byte 0\n"                                 \
			 ".8byte 0\n"                                 \
			 ".asciz \"jobs\"\n"                          \
			 ".asciz \"" name "\"\n"                      \
			 ".asciz \"" arg "\"\n"                       \
			 "994: .balign 4\n"                           \
			 ".popsection\n" ::"r"(0L),                   \
			 [id] "r"(id), [at] "m"(id))

#if defined(__x86_64__)
#define IN_REGISTER "4@$1 -4@%k[id]"
#else
#define IN_REGISTER "4@1 -4@%w[id]"
#endif
#define IN_MEMORY "-4@%[at]"

static void begin_usdt(int id)
{
	USDT("begin", IN_REGISTER);
}

static void end_usdt(int number)
{
	volatile int id = number;

	USDT("end", IN_MEMORY);
}

static void *work(void *unused)
{
	for (;;) {
		int id;

		pthread_mutex_lock(&lock);
		while (ended == begun)
			pthread_cond_wait(&changed, &lock);
		id = ended++;
		pthread_mutex_unlock(&lock);
		if (id >= n)
			return unused;
		pause_for(1000);
		end(1000000 + id);
	}
}

static void jobs(void)
{
	pthread_t threads[JOBS];

	for (int i = 0; i < JOBS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	/* One more for each thread, which ends it. */
	for (int i = 0; i < n + JOBS; i++) {
		if (i < n)
			begin(1000000 + i);
		pthread_mutex_lock(&lock);
		begun++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_cond_broadcast(&changed);
	for (int i = 0; i < JOBS; i++)
		pthread_join(threads[i], NULL);
	/* Two that nobody ends; of the first another one has the id. */
	begin(7);
	begin(7);
	told(n, 2);
}

static void marks(void)
{
	begin = begin_job;
	end = end_function;
	jobs();
}

static void usdt(void)
{
	begin = begin_usdt;
	end = end_usdt;
	jobs();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = { { "calls", calls },   { "recursion", recursion }, { "jumps", jumps },
		     { "deaths", deaths }, { "execs", execs },	       { "marks", marks },
		     { "usdt", usdt },	   { "open", leave_open } };

	n = argc == 3 ? atoi(argv[2]) : 0;
	for (size_t i = 0; n > 0 && i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(argv[1], what[i].name)) {
			what[i].run();
			return 0;
		}
	fputs("usage: probed calls|recursion|jumps|deaths|execs|marks|usdt|open N\n", stderr);
	return 2;
}
