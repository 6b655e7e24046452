// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deaf_files DIR PROGRAM NAME
 *
 * Mounts a file system at DIR with a copy of PROGRAM as DIR/program, and serves it to everyone but
 * the threads whose name begins with NAME: these never get an answer, as if the server of a network
 * file system were dead. Nobody gets one to a change. Says "ready" when it is mounted, and "silent"
 * once somebody waits in vain. Ends when it is unmounted. Needs root. Protocol: linux/fuse.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NODE 2u /* of the file; the root has 1 */
#define REQUEST_BYTES (1u << 17)

static struct {
	int dev, program;
	uint64_t bytes; /* of the program */
	const char *deaf;
} fs;

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + len),
		.error = error,
		.unique = unique,
	};
	struct iovec parts[] = { { &h, sizeof(h) }, { (void *)(uintptr_t)data, len } };

	(void)!writev(fs.dev, parts, 2); /* who asked may be gone */
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = { .ino = node, .nlink = 1, .blksize = 4096 };

	a.mode = node == NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	a.size = node == NODE ? fs.bytes : 0;
	a.blocks = a.size / 512;
	return a;
}

/* Nothing may be remembered: attributes and names are asked for each time. */
static void answer_name(const struct fuse_in_header *h, const char *name)
{
	struct fuse_entry_out out = { .nodeid = NODE, .generation = 1, .attr = attr_of(NODE) };

	if (h->nodeid != FUSE_ROOT_ID || strcmp(name, "program"))
		reply(h->unique, -ENOENT, NULL, 0);
	else
		reply(h->unique, 0, &out, sizeof(out));
}

static void answer_read(const struct fuse_in_header *h, const struct fuse_read_in *in)
{
	static char bytes[REQUEST_BYTES];
	size_t len = in->size < sizeof(bytes) ? in->size : sizeof(bytes);
	ssize_t n = pread(fs.program, bytes, len, (off_t)in->offset);

	reply(h->unique, n < 0 ? -errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void answer_init(const struct fuse_in_header *h, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor
							       : FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
		.max_readahead = in->max_readahead,
	};

	reply(h->unique, 0, &out, sizeof(out));
}

static bool is_of_deaf(uint32_t tid)
{
	char path[40], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	(void)!fgets(name, sizeof(name), f);
	fclose(f);
	return !strncmp(name, fs.deaf, strlen(fs.deaf));
}

static bool is_deaf_to(const struct fuse_in_header *h)
{
	static bool is_said;

	if (h->opcode != FUSE_WRITE && h->opcode != FUSE_SETATTR && !is_of_deaf(h->pid))
		return false;
	if (!is_said)
		puts("silent");
	is_said = true;
	return true;
}

static void answer(const struct fuse_in_header *h, const void *in)
{
	struct fuse_attr_out attr = { .attr = attr_of(h->nodeid) };
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };

	switch (h->opcode) {
	case FUSE_INIT:
		answer_init(h, in);
		break;
	case FUSE_LOOKUP:
		answer_name(h, in);
		break;
	case FUSE_GETATTR:
		reply(h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(h->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		answer_read(h, in);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		reply(h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: /* have no answer */
		break;
	default:
		reply(h->unique, -ENOSYS, NULL, 0);
	}
}

static int mount_at(const char *dir)
{
	char options[100];

	fs.dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fs.dev < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fs.dev);
	return mount("deaf_files", dir, "fuse.deaf_files", MS_NODEV | MS_NOSUID, options) ? -errno
											  : 0;
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[REQUEST_BYTES];
	const struct fuse_in_header *h = (const void *)request;
	struct stat st;
	int err;

	if (argc != 4)
		return 2;
	fs.deaf = argv[3];
	fs.program = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fs.program < 0 || fstat(fs.program, &st)) {
		perror(argv[2]);
		return 1;
	}
	fs.bytes = (uint64_t)st.st_size;
	err = mount_at(argv[1]);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		ssize_t n = read(fs.dev, request, sizeof(request));

		if (n < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(*h)) /* ENODEV: unmounted */
			return 0;
		if (!is_deaf_to(h))
			answer(h, h + 1);
	}
}
