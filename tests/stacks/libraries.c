// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libraries FOLDER COUNT NAPS PAUSE_US LIBRARY...
 *
 * Loads COUNT libraries one after the other, each a copy of one of those given (plugin.c) under a
 * name of its own in FOLDER; sleeps NAPS times below its functions, deletes it and unloads it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int never;

__attribute__((noinline)) static void naps(void)
{
	usleep(20);
	never++;
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size) {
		perror(to);
		exit(1);
	}
	close(in);
	close(out);
}

int main(int argc, char **argv)
{
	int count = argc > 5 ? atoi(argv[2]) : 0;

	for (int i = 0; i < count; i++) {
		char path[4096];
		int (*plugin)(void (*fn)(void)) = NULL;
		void *library;

		snprintf(path, sizeof(path), "%s/library-%d-%d.so", argv[1], (int)getpid(), i);
		copy(argv[5 + i % (argc - 5)], path);
		library = dlopen(path, RTLD_NOW);
		if (library)
			plugin = (int (*)(void (*)(void)))dlsym(library, "plugin");
		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (int k = atoi(argv[3]); k > 0; k--)
			never += plugin(naps);
		unlink(path);
		dlclose(library);
		usleep((useconds_t)atoi(argv[4]));
	}
}
