// SPDX-License-Identifier: GPL-2.0-or-later
/* Two transfers at a time between the same accounts, in both directions: each has one lock and
 * wants the other. */
#include <stdbool.h>
#include <string.h>

#include "../workload/slow/slow.h"

static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER, savings = PTHREAD_MUTEX_INITIALIZER;
static bool healthy;

static NOINLINE void transfer(pthread_mutex_t *from, pthread_mutex_t *to)
{
	pthread_mutex_lock(from);
	compute(20000);
	pthread_mutex_lock(to);
	compute(1000);
	pthread_mutex_unlock(to);
	pthread_mutex_unlock(from);
	after++;
}

static void *deposit(void *arg)
{
	call_it("deposit");
	for (;;)
		transfer(&checking, &savings);
	return arg;
}

static void *withdraw(void *arg)
{
	call_it("withdraw");
	for (;;)
		transfer(healthy ? &checking : &savings, healthy ? &savings : &checking);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	healthy = argc > 1 && !strcmp(argv[1], "--healthy");
	if (pthread_create(&thread[0], NULL, deposit, NULL) ||
	    pthread_create(&thread[1], NULL, withdraw, NULL))
		die("pthread_create");
	pthread_join(thread[0], NULL);
	return 0;
}
