// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_init(struct progress *p, bool quiet)
{
	*p = (struct progress) { .on = !quiet && isatty(STDERR_FILENO) };
}

void progress_size(char *buf, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1000 && u + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1000;
		u++;
	}
	snprintf(buf, size, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

void progress_show(struct progress *p, uint64_t elapsed_ns, uint64_t events, uint64_t bytes,
		   uint64_t lost)
{
	double seconds = (double)(elapsed_ns - p->last_ns) / 1e9;
	double rate = seconds > 0 ? (double)(events - p->last_events) / seconds : 0;
	char size[32];

	if (!p->on)
		return;
	progress_size(size, sizeof(size), bytes);
	fprintf(stderr, "\r\033[K%.1f s  %llu events  %.0f/s  %s  %llu lost",
		(double)elapsed_ns / 1e9, (unsigned long long)events, rate, size,
		(unsigned long long)lost);
	fflush(stderr);
	p->shown = true;
	p->last_ns = elapsed_ns;
	p->last_events = events;
}

/* How many of a million parts of all CPUs' time that is. */
static double share(uint64_t cpu_ns, uint64_t elapsed_ns, uint32_t cpus)
{
	return elapsed_ns ? 1e6 * (double)cpu_ns / ((double)elapsed_ns * cpus) : 0;
}

void progress_log(struct progress *p, uint64_t every_ns, uint64_t now_ns, uint32_t cpus,
		  const struct progress_log *total)
{
	const struct progress_log *last = &p->logged;

	if (!every_ns || (p->logged_ns && now_ns - p->logged_ns < every_ns))
		return;
	if (p->logged_ns) {
		progress_clear(p);
		fprintf(stderr,
			"chaincap: in %.0f s: %llu events, %llu lost; mappings lost %llu; readers "
			"of files given up %llu; CPU %.2f %%; traces %llu\n",
			(double)(now_ns - p->logged_ns) / 1e9,
			(unsigned long long)(total->events - last->events),
			(unsigned long long)(total->lost - last->lost),
			(unsigned long long)(total->mappings - last->mappings),
			(unsigned long long)(total->given_up - last->given_up),
			share(total->cpu_ns - last->cpu_ns, now_ns - p->logged_ns, cpus) / 1e4,
			(unsigned long long)(total->dumps - last->dumps));
	}
	p->logged_ns = now_ns;
	p->logged = *total;
}

#define WATCH_NS 10000000000u
#define WARN_EACH_NS 3600000000000u

void progress_watch(struct progress *p, uint32_t most_ppm, uint64_t now_ns, uint32_t cpus,
		    uint64_t cpu_ns)
{
	double taken;

	if (!most_ppm || (p->watched_ns && now_ns - p->watched_ns < WATCH_NS))
		return;
	taken = share(cpu_ns - p->watched_cpu_ns, now_ns - p->watched_ns, cpus);
	if (p->watched_ns && taken > most_ppm &&
	    (!p->warned_ns || now_ns - p->warned_ns >= WARN_EACH_NS)) {
		progress_clear(p);
		fprintf(stderr,
			"chaincap: it takes %.2f %% of the CPUs' time, more than %.2f %%: --light, "
			"or a longer time there, costs less\n",
			taken / 1e4, most_ppm / 1e4);
		p->warned_ns = now_ns;
	}
	p->watched_ns = now_ns;
	p->watched_cpu_ns = cpu_ns;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
