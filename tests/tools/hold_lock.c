// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold_lock FILE
 *
 * Holds the lock of its own memory (mmap_lock): maps FILE, which is on a file system that does not
 * answer writes (deaf_files), changes it, and maps other memory over it. Then the kernel writes the
 * change back with the lock held. Meanwhile another thread sleeps and wakes, with a frame that is
 * larger than any copy of its stack. Says "ready" before.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAME_BYTES 40000
#define MAPPED_BYTES 65536u

static pthread_barrier_t runs;

static void *sleeps(void *none)
{
	volatile char frame[FRAME_BYTES];

	/* No page of the stack may be missing later. */
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = 1;
	usleep(1000);
	pthread_barrier_wait(&runs);
	while (frame[0])
		usleep(10000);
	return none;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	volatile char *area;
	int fd;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	area = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || area == MAP_FAILED) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	pthread_barrier_init(&runs, NULL, 2);
	if (pthread_create(&thread, NULL, sleeps, NULL))
		return 1;
	pthread_barrier_wait(&runs);
	puts("ready");
	fflush(stdout);
	area[0]++;
	(void)mmap((void *)area, MAPPED_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
	pause();
}
