// SPDX-License-Identifier: GPL-2.0-or-later
/* Running the iterators, and counting what they leave out. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_private.h"
#include "clock.h"

int bpf_session_iterator(const struct bpf_program *prog, uint32_t tgid)
{
	union bpf_iter_link_info of = { .task = { .pid = tgid } };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &of, .link_info_len = sizeof(of));
	struct bpf_link *link;
	int fd;

	link = bpf_program__attach_iter(prog, tgid ? &opts : NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

int bpf_session_list(int fd, size_t size, uint64_t until_ns, int (*fn)(void *ctx, const void *item),
		     void *ctx)
{
	size_t have = 0, cap = size * 64;
	uint8_t *buf;
	int err = 0;

	if (fd < 0)
		return fd;
	buf = malloc(cap);
	if (!buf)
		err = -ENOMEM;
	while (!err) {
		ssize_t n = read(fd, buf + have, cap - have);
		size_t used = 0;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		have += (size_t)n;
		for (; !err && have - used >= size; used += size)
			err = fn(ctx, buf + used);
		have -= used;
		memmove(buf, buf + used, have);
		if (!err && clock_now_ns() >= until_ns)
			err = -ETIME;
	}
	free(buf);
	close(fd);
	return err < 0 ? err : 0;
}

void bpf_session_leave_out(struct bpf_session *s, enum chainlog_left_out what, uint64_t n)
{
	__atomic_fetch_add(&s->skel->bss->left_out[what], n, __ATOMIC_RELAXED);
}
