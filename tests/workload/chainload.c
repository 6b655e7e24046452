// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chainload - workloads whose wakeup chains are known beforehand.
 *
 * Each scenario starts threads with names and lets them wait for one another in one known way.
 * Standard output gets a line per thread at the start ("thread alpha 4711") and what the threads
 * were told and measured at the end ("told ..."). The waiting, the working and the waking are
 * functions of their own, called straight from the thread's run function and entering the kernel
 * by themselves: a user stack is thread_main, alpha_runs, alpha_waits and nothing after that.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "contexts.h"
#include "hop.h"
#include "lives.h"
#include "options.h"
#include "processes.h"
#include "calls.h"
#include "relay.h"
#include "retries.h"
#include "scratch.h"
#include "shares.h"
#include "stacks.h"
#include "things.h"
#include "threads.h"

/* ---- pingpong: two threads, each waiting for the other ---- */

static struct hop pingpong_hops[2]; /* ping <- pong, pong <- ping */

IN_STACK int ping_waits(void)
{
	return hop_wait(&pingpong_hops[0]);
}

IN_STACK int pong_waits(void)
{
	return hop_wait(&pingpong_hops[1]);
}

IN_STACK void ping_works(struct thread *ping)
{
	work_on_cpu(ping, options.work_us[0]);
}

IN_STACK void pong_works(struct thread *pong)
{
	work_on_cpu(pong, options.work_us[1]);
}

IN_STACK int ping_wakes_pong(void)
{
	return hop_pass(&pingpong_hops[1]);
}

IN_STACK int pong_wakes_ping(void)
{
	return hop_pass(&pingpong_hops[0]);
}

IN_STACK int ping_runs(struct thread *ping)
{
	uint64_t slept_ns;
	int error = 0;

	for (; !error && ping->rounds < options.rounds; ping->rounds++) {
		ping_works(ping);
		error = ping_wakes_pong();
		slept_ns = clock_ns(CLOCK_MONOTONIC);
		if (!error)
			error = ping_waits();
		ping->waited_ns += clock_ns(CLOCK_MONOTONIC) - slept_ns;
	}
	return error;
}

IN_STACK int pong_runs(struct thread *pong)
{
	int error = 0;

	for (; !error && pong->rounds < options.rounds; pong->rounds++) {
		count_held(pong);
		error = pong_waits();
		pong->let_go_ns = pingpong_hops[1].passed_ns;
		pong_works(pong);
		if (!error)
			error = pong_wakes_ping();
	}
	count_held(pong);
	return error;
}

static int pingpong_sets_up(void)
{
	int error = hop_open(&pingpong_hops[0], options.hops[0]);

	if (!error)
		error = hop_open(&pingpong_hops[1], options.hops[0]);
	crew_add("ping", ping_runs);
	crew_add("pong", pong_runs);
	return error;
}

/* ---- convoy: threads on one mutex, which is handed over in the order of arrival ---- */

static struct {
	_Atomic uint32_t next_ticket;
	_Atomic uint32_t granted[MAX_THREADS + 1]; /* by ticket: 1 + the last ticket let in here */
	_Atomic uint64_t unlocked_ns;		   /* when the last holder began to unlock */
} convoy;

IN_STACK void convoy_waits(_Atomic uint32_t *granted, uint32_t ticket)
{
	uint32_t last;

	while ((last = atomic_load(granted)) != ticket + 1)
		futex_wait(granted, last);
}

IN_STACK void convoy_works(struct thread *holder)
{
	work_on_cpu(holder, options.work_us[0]);
}

IN_STACK void convoy_unlocks(uint32_t ticket)
{
	_Atomic uint32_t *granted = &convoy.granted[(ticket + 1) % (MAX_THREADS + 1)];

	convoy.unlocked_ns = clock_ns(CLOCK_MONOTONIC);
	atomic_store(granted, ticket + 2);
	futex_wake_one(granted);
}

IN_STACK int convoy_runs(struct thread *thread)
{
	for (; thread->rounds < options.rounds; thread->rounds++) {
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
		uint32_t ticket = atomic_fetch_add(&convoy.next_ticket, 1);

		count_held(thread);
		convoy_waits(&convoy.granted[ticket % (MAX_THREADS + 1)], ticket);
		thread->let_go_ns = ticket ? convoy.unlocked_ns : began_ns;
		thread->waited_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
		convoy_works(thread);
		convoy_unlocks(ticket);
	}
	count_held(thread);
	return 0;
}

static int convoy_sets_up(void)
{
	char name[16];

	atomic_store(&convoy.granted[0], 1);
	for (int i = 0; i < options.threads; i++) {
		snprintf(name, sizeof(name), "convoy%hu", (unsigned short)i);
		crew_add(name, convoy_runs);
	}
	return 0;
}

/* ---- diskio: reads past the page cache, or syncs; a device's interrupt ends each ---- */

#define DISK_BLOCK 4096

static struct {
	int fd;
	void *block;
} disk;

IN_STACK int disk_reads(uint64_t offset)
{
	return TRANSFER(pread(disk.fd, disk.block, DISK_BLOCK, (off_t)offset), DISK_BLOCK);
}

IN_STACK int disk_syncs(uint64_t offset)
{
	int error = TRANSFER(pwrite(disk.fd, disk.block, DISK_BLOCK, (off_t)offset), DISK_BLOCK);

	if (!error && fsync(disk.fd))
		error = -errno;
	return error;
}

/* How often the calling thread has gone to sleep. */
static long sleeps(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* A fast disk has answered before the thread is asleep: that was no wait. */
IN_STACK int disk_runs(struct thread *thread)
{
	for (; thread->rounds < options.rounds; thread->rounds++) {
		uint64_t offset = thread->rounds % 256 * DISK_BLOCK;
		long slept = sleeps();
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
		int done = options.sync ? disk_syncs(offset) : disk_reads(offset);

		if (done < 0)
			return done;
		if (sleeps() != slept)
			thread->waited_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
	}
	return 0;
}

static int disk_sets_up(void)
{
	disk.block = aligned_alloc(DISK_BLOCK, DISK_BLOCK);
	if (!disk.block)
		return -ENOMEM;
	memset(disk.block, 'c', DISK_BLOCK);
	disk.fd = open_scratch(options.sync ? 0 : O_DIRECT);
	if (disk.fd < 0)
		return disk.fd;
	for (int i = 0; i < 256; i++)
		if (pwrite(disk.fd, disk.block, DISK_BLOCK, i * DISK_BLOCK) != DISK_BLOCK)
			return errno ? -errno : -EIO;
	if (fsync(disk.fd))
		return -errno;
	crew_add("disk", disk_runs);
	return 0;
}

/* ---- never: nobody wakes it; idle: many, woken all at once by a keeper that had slept ---- */

static _Atomic uint32_t released;

IN_STACK void never_waits(void)
{
	while (!released)
		futex_wait(&released, 0);
}

IN_STACK int never_runs(struct thread *thread)
{
	(void)thread;
	never_waits();
	return 0;
}

static int never_sets_up(void)
{
	crew_add("never", never_runs);
	return 0;
}

IN_STACK void idle_waits(void)
{
	while (!released)
		futex_wait(&released, 0);
}

IN_STACK int idle_runs(struct thread *thread)
{
	idle_waits();
	thread->rounds++;
	return 0;
}

IN_STACK void keeper_waits(uint64_t until_ns)
{
	sleep_until(until_ns);
}

IN_STACK void keeper_works(struct thread *keeper)
{
	work_on_cpu(keeper, options.work_us[0]);
}

IN_STACK void keeper_wakes_all(void)
{
	released = 1;
	futex_wake_all(&released);
}

IN_STACK int keeper_runs(struct thread *keeper)
{
	keeper_waits(clock_ns(CLOCK_MONOTONIC) + options.sleep_us * 1000);
	keeper_works(keeper);
	keeper_wakes_all();
	keeper->rounds++;
	return 0;
}

static int idle_sets_up(void)
{
	char name[16];

	for (int i = 0; i < options.threads; i++) {
		snprintf(name, sizeof(name), "idle%hu", (unsigned short)i);
		crew_add(name, idle_runs);
	}
	crew_add("keeper", keeper_runs);
	return 0;
}

/* ---- the table, and what runs one line of it ---- */

struct scenario {
	const char *name, *about;
	int (*sets_up)(void); /* opens what it needs, adds its threads; 0 or a negative errno */
	void (*tells)(void);  /* more than the sums per thread, or NULL */
	uint64_t rounds;      /* if --rounds is left out */
	int threads;	      /* if --threads is left out; 0 where the number is fixed */
	bool lasts;	      /* ends by --seconds, as it should */
};

static const struct scenario scenarios[] = {
	{ "relay", "alpha <- bravo <- charlie <- delta <- timer", relay_sets_up, relay_tells, 10, 0,
	  false },
	{ "pingpong", "ping and pong wait for each other", pingpong_sets_up, NULL, 100, 0, false },
	{ "convoy", "threads on one mutex, handed over in order", convoy_sets_up, NULL, 10, 4,
	  false },
	{ "retries", "timed waits for a lock and a condition, tried again", retries_sets_up, NULL,
	  4, 0, false },
	{ "diskio", "reads past the page cache (--sync: writes and syncs)", disk_sets_up, NULL, 100,
	  0, false },
	{ "never", "a thread that nobody wakes", never_sets_up, NULL, 1, 0, true },
	{ "idle", "idle threads, all woken by keeper after --sleep", idle_sets_up, NULL, 1, 100,
	  false },
	{ "earlyexit", "patient waits for a child process that is then gone", earlyexit_sets_up,
	  NULL, 1, 0, false },
	{ "exec", "patient waits for a process, before and after its exec", exec_sets_up, NULL, 1,
	  0, false },
	{ "rename", "patient waits for a thread under two names", rename_sets_up, NULL, 1, 0,
	  false },
	{ "deadlock", "castor and pollux wait for each other's lock", deadlock_sets_up, NULL, 1, 0,
	  true },
	{ "heir", "exec by a thread that does not lead its process", heir_sets_up, NULL, 1, 0,
	  false },
	{ "tenants", "two processes with the same tid, one after the other", tenants_sets_up,
	  tenants_tells, 1, 0, false },
	{ "stop", "a process is stopped and continued", stop_sets_up, NULL, 3, 0, false },
	{ "zombie", "a child is dead for --sleep before it is waited for", zombie_sets_up, NULL, 1,
	  0, false },
	{ "terminal", "reader <- a kernel worker <- typist <- timer", terminal_sets_up, NULL, 10, 0,
	  false },
	{ "terminals", "the same, without the timer, beside noisy -> listener", terminals_sets_up,
	  NULL, 20, 0, false },
	{ "loopdev", "reads from a loop device, which ksoftirqd ends", loopdev_sets_up, NULL, 20, 0,
	  false },
	{ "timeout", "a receive that times out by a timer softirq", timeout_sets_up, NULL, 10, 0,
	  false },
	{ "bystander", "interrupts that hit a busy thread wake sleeper", bystander_sets_up, NULL,
	  10, 0, false },
	{ "stacks", "rover waits at the end of another way each time", stacks_sets_up, NULL, 100000,
	  0, false },
	{ "shares", "client <- worker, which sorts and hashes (--work SORT,HASH,0)", shares_sets_up,
	  shares_tells, 100, 0, false },
	{ "things", "a socket, an epoll set, a mapped file, a disk", things_sets_up, NULL, 20, 0,
	  false },
	{ "deep", "shallow is woken from a stack too deep to record", deep_sets_up, NULL, 10, 0,
	  false },
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static void print_help(FILE *out)
{
	fprintf(out,
		"Usage: chainload NAME [options]\n"
		"       chainload --list | --help\n"
		"Runs a workload whose wakeup chains are known. Prints \"thread NAME TID\" lines\n"
		"at its start, \"told ...\" lines with what was done and measured at its end.\n\n"
		"  --hops A,B,C      how alpha, bravo, charlie wait; pingpong: the first. futex,\n"
		"                    pipe, eventfd, unix, tcp (futex,pipe,eventfd)\n"
		"  --work US,US,US   CPU time of bravo, charlie, delta (others: the first; 2000)\n"
		"  --sleep US        how long the timer at the far end sleeps (20000)\n"
		"  --rounds N        how often\n"
		"  --threads N       convoy, idle: how many\n"
		"  --sync            diskio: write and fsync instead of reading\n"
		"  --dir DIR         diskio, loopdev, things: where its file goes (.)\n"
		"  --seconds S       end after that time at the latest (60)\n\n"
		"Example: chaincap -o relay.bin -- chainload relay --work 1000,2000,3000\n");
}

/* Up to three names with commas between; the last one serves for the rest. */
static bool parse_hops(const char *text)
{
	for (int i = 0; i < 3; i++) {
		size_t len = strcspn(text, ",");

		options.hops[i] = hop_kind_named(text, len);
		if (options.hops[i] == HOP_KINDS)
			return false;
		if (text[len] && i < 2)
			text += len + 1;
		else if (text[len])
			return false;
	}
	return true;
}

/* Up to count numbers with commas between; the last one serves for the rest. */
static bool parse_numbers(const char *text, uint64_t *numbers, int count, uint64_t most)
{
	char *end = NULL;

	for (int i = 0; i < count; i++) {
		if (*text) {
			if (*text < '0' || *text > '9')
				return false;
			numbers[i] = strtoull(text, &end, 10);
			if (numbers[i] > most || (*end && *end != ','))
				return false;
			text = *end ? end + 1 : end;
		} else if (i) {
			numbers[i] = numbers[i - 1];
		} else {
			return false;
		}
	}
	return !*text;
}

static int run(const struct scenario *scenario)
{
	int error;

	printf("process chainload %d\n", getpid());
	settles();
	error = share_waiter();
	if (!error)
		error = scenario->sets_up();
	if (!error)
		error = crew_start();
	if (!error)
		error = crew_wait(options.seconds);
	if (error == -ETIMEDOUT && scenario->lasts)
		error = 0;
	printf("told work_us %ju %ju %ju\n", (uintmax_t)options.work_us[0],
	       (uintmax_t)options.work_us[1], (uintmax_t)options.work_us[2]);
	printf("told sleep_us %ju\n", (uintmax_t)options.sleep_us);
	printf("told rounds %ju\n", (uintmax_t)options.rounds);
	for (int i = 0; i < crew.count; i++)
		tell_thread(&crew.threads[i]);
	if (scenario->tells)
		scenario->tells();
	fflush(stdout);
	return error;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "hops", required_argument, NULL, 'H' },
		{ "work", required_argument, NULL, 'w' },
		{ "sleep", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "sync", no_argument, NULL, 'y' },
		{ "dir", required_argument, NULL, 'd' },
		{ "seconds", required_argument, NULL, 'S' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const struct scenario *scenario = NULL;
	uint64_t threads = 0;
	bool valid = true;
	char *end;
	int option, error;

	if (argc == 5 && !strcmp(argv[1], AFTER_EXEC))
		return run_after_exec(argv + 2);
	while (valid && (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
		switch (option) {
		case 'H':
			valid = parse_hops(optarg);
			break;
		case 'w':
			valid = parse_numbers(optarg, options.work_us, 3, 60000000);
			break;
		case 's':
			valid = parse_numbers(optarg, &options.sleep_us, 1, 3600000000u);
			break;
		case 'r':
			valid = parse_numbers(optarg, &options.rounds, 1, 1000000000u);
			break;
		case 't':
			valid = parse_numbers(optarg, &threads, 1, MAX_THREADS - 1) && threads;
			break;
		case 'y':
			options.sync = true;
			break;
		case 'd':
			options.dir = optarg;
			break;
		case 'S':
			options.seconds = strtod(optarg, &end);
			valid = !*end && options.seconds > 0 && options.seconds <= 86400;
			break;
		case 'l':
			for (size_t i = 0; i < SCENARIOS; i++)
				printf("%-10s %s\n", scenarios[i].name, scenarios[i].about);
			return 0;
		case 'h':
			print_help(stdout);
			return 0;
		default:
			valid = false;
		}
	for (size_t i = 0; i < SCENARIOS && optind == argc - 1; i++)
		if (!strcmp(argv[optind], scenarios[i].name))
			scenario = &scenarios[i];
	if (!valid || !scenario) {
		print_help(stderr);
		return 2;
	}
	if (!options.rounds)
		options.rounds = scenario->rounds;
	options.threads = threads ? (int)threads : scenario->threads;
	error = run(scenario);
	if (error) {
		fprintf(stderr, "chainload %s: %s\n", scenario->name, strerror(-error));
		return 1;
	}
	return 0;
}
