// SPDX-License-Identifier: GPL-2.0-or-later
/* A reader of a table that several writers keep changing: each hands the lock to the next. */
#include "slow.h"

static pthread_rwlock_t table;

static NOINLINE void change_table(void)
{
	pthread_rwlock_wrlock(&table);
	compute(3000);
	pthread_rwlock_unlock(&table);
	after++;
}

static void *writer(void *arg)
{
	call_it("writer");
	for (;;) {
		change_table();
		nap(4000);
	}
	return arg;
}

static NOINLINE void read_table(void)
{
	pthread_rwlock_rdlock(&table);
	after++;
	pthread_rwlock_unlock(&table);
	after++;
}

int main(void)
{
	uint64_t end = now_us() + RUN_US;
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	if (pthread_rwlock_init(&table, &attr))
		die("pthread_rwlock_init");
	for (int i = 0; i < 3; i++)
		start(writer, NULL);
	call_it("reader");
	while (now_us() < end) {
		read_table();
		nap(1000);
	}
	return 0;
}
