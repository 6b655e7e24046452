// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct reader {
	struct helper helper;
	bool is_code;	 /* it reads names of generated code */
	uint32_t n_late; /* answers of calls that waited no longer: they come before any other */
	size_t n_asked, n_answered;
	uint8_t answers[READER_ANSWERS_BYTES];
};

/* ---- messages ------------------------------------------------------------------------------ */

static int send_request(struct reader *rd, enum reader_op op, uint32_t arg, uint64_t n, int fd)
{
	struct reader_request r = { .op = op, .arg = arg, .n = n };

	return helper_send(&rd->helper, &r, sizeof(r), fd);
}

/* See helper_receive(). Drops answers that come too late for their calls. */
static ssize_t receive(struct reader *rd, void *message, size_t size, uint64_t wait_ns)
{
	int32_t late;
	ssize_t n;

	for (; rd->n_late; rd->n_late--) {
		n = helper_receive(&rd->helper, &late, sizeof(late), NULL, wait_ns);
		if (n < 0)
			return n;
	}
	return helper_receive(&rd->helper, message, size, NULL, wait_ns);
}

/* A message of that size. 0, -EAGAIN or -EPIPE. */
static int receive_exactly(struct reader *rd, void *message, size_t size, uint64_t wait_ns)
{
	ssize_t n = receive(rd, message, size, wait_ns);

	if (n == (ssize_t)size)
		return 0;
	return n == -EAGAIN ? -EAGAIN : -EPIPE;
}

static int call(struct reader *rd, enum reader_op op, uint32_t arg, int fd, uint64_t wait_ns)
{
	int32_t told;
	int err = send_request(rd, op, arg, 0, fd);

	if (!err) {
		err = receive_exactly(rd, &told, sizeof(told), wait_ns);
		rd->n_late += err == -EAGAIN;
	}
	return err ? err : told;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int start(struct reader **out, struct helpers *helpers, enum helper_priority priority)
{
	struct reader *rd = calloc(1, sizeof(*rd));
	int err = rd ? helper_start(&rd->helper, helpers, &reader_kind, priority) : -ENOMEM;

	*out = err ? NULL : rd;
	if (err)
		free(rd);
	return err;
}

static int close_on_error(struct reader **out, int err)
{
	if (!err)
		return 0;
	reader_close(*out);
	*out = NULL;
	return err;
}

int reader_open(struct reader **out, struct helpers *helpers, enum helper_priority priority, int fd)
{
	int err = start(out, helpers, priority);

	return close_on_error(out, err ? err : send_request(*out, READER_OPEN, 0, 0, fd));
}

int reader_open_code(struct reader **out, struct helpers *helpers, enum helper_priority priority,
		     int perf_map, int jitdump)
{
	int err = start(out, helpers, priority);

	if (!err)
		(*out)->is_code = true;
	if (!err && perf_map >= 0)
		err = send_request(*out, READER_PERF_MAP, 0, 0, perf_map);
	if (!err && jitdump >= 0)
		err = send_request(*out, READER_JITDUMP, 0, 0, jitdump);
	return close_on_error(out, err);
}

void reader_close(struct reader *rd)
{
	reader_close_late(rd, 0);
}

void reader_close_late(struct reader *rd, uint64_t key)
{
	if (!rd)
		return;
	helper_end_late(&rd->helper, key);
	free(rd);
}

uint64_t reader_cpu_ns(const struct reader *rd)
{
	return helper_cpu_ns(&rd->helper);
}

int reader_file(struct reader *rd, struct reader_file *file, uint64_t wait_ns)
{
	int err = receive_exactly(rd, file, sizeof(*file), wait_ns);

	if (!err && (file->err || file->n_segments > READER_SEGMENTS_MAX ||
		     !debugfile_is_sane(&file->wanted)))
		err = file->err < 0 && file->err != -EAGAIN ? file->err : -EPIPE;
	return err;
}

bool reader_add_debug(struct reader *rd, int fd, uint64_t wait_ns)
{
	int taken = call(rd, READER_DEBUG, 0, fd, wait_ns);

	close(fd);
	return taken > 0;
}

void reader_add_minidebug(struct reader *rd)
{
	(void)send_request(rd, READER_MINIDEBUG, 0, 0, -1);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Sends in a file, so that there is no limit to how much can be sent at once. */
static int send_file(struct reader *rd, enum reader_op op, uint64_t n, const void *data,
		     size_t bytes)
{
	int fd = memfd_create("questions", MFD_CLOEXEC), err = fd < 0 ? -errno : 0;
	size_t done = 0;

	while (!err && done < bytes) {
		ssize_t written = write(fd, (const uint8_t *)data + done, bytes - done);

		if (written > 0)
			done += (size_t)written;
		else
			err = -ENOMEM;
	}
	if (!err)
		err = send_request(rd, op, 0, n, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

int reader_find(struct reader *rd, const struct reader_question *q, size_t n)
{
	rd->n_asked = n;
	return send_file(rd, rd->is_code ? READER_FIND_CODE : READER_FIND, n, q, n * sizeof(*q));
}

/* Answers may be hostile: all lengths are checked. */
int reader_found(struct reader *rd, reader_take_fn fn, void *ctx, uint64_t wait_ns)
{
	char name[READER_NAME_MAX + 1];
	struct reader_answer a;
	size_t len, at = 0;
	ssize_t got;
	int err = 0;

	if (rd->n_answered == rd->n_asked)
		return 0;
	got = receive(rd, rd->answers, sizeof(rd->answers), wait_ns);
	if (got < 0)
		return (int)got;
	for (len = (size_t)got; !err && at < len && rd->n_answered < rd->n_asked;) {
		if (len - at < sizeof(a))
			return -EPIPE;
		memcpy(&a, rd->answers + at, sizeof(a));
		at += sizeof(a);
		if (a.len > len - at || a.len > READER_NAME_MAX)
			return -EPIPE;
		memcpy(name, rd->answers + at, a.len);
		name[a.len] = '\0';
		at += a.len;
		err = fn(ctx, rd->n_answered++, &a, a.flags & READER_NAMED ? name : NULL);
	}
	return err ? err : rd->n_answered < rd->n_asked;
}

/* ---- probes -------------------------------------------------------------------------------- */

int reader_find_probe(struct reader *rd, const struct elfprobe_query *q,
		      struct elfprobe_answer *answer, uint64_t wait_ns)
{
	int err = send_file(rd, READER_FIND_PROBE, 1, q, sizeof(*q));

	if (!err)
		err = receive_exactly(rd, answer, sizeof(*answer), wait_ns);
	if (!err && (answer->n_places > ELFPROBE_PLACES || answer->n_names > NEAR_NAMES_MAX ||
		     answer->fault > ELFPROBE_TOO_MANY))
		err = -EPIPE;
	for (uint32_t i = 0; !err && i < answer->n_names; i++)
		answer->names[i][NEAR_NAMES_LEN - 1] = '\0';
	return err;
}

/* ---- copies -------------------------------------------------------------------------------- */

int reader_copy(struct helpers *helpers, int from, int to, uint32_t max_bytes, uint64_t wait_ns)
{
	struct reader_file file;
	struct reader *rd;
	int err = reader_open(&rd, helpers, HELPER_USUAL, from);

	if (err)
		return err;
	err = receive_exactly(rd, &file, sizeof(file), wait_ns);
	if (!err)
		err = call(rd, READER_COPY, max_bytes, to, wait_ns);
	reader_close(rd);
	return err;
}

/* ---- what the BPF side has to know of a file ------------------------------------------------ */

int reader_ask_parts(struct reader *rd)
{
	return send_request(rd, READER_PARTS, 0, 0, -1);
}

int reader_parts(struct reader *rd, struct reader_parts *out, uint64_t wait_ns)
{
	int err = receive_exactly(rd, out, sizeof(*out), wait_ns);

	if (err)
		return err;
	if (out->has_context > 1 || out->has_interpreter > 1 || out->context.tls >= WIRE_TLS_MODULE)
		return -EPIPE;
	return 0;
}

int reader_open_keys(struct reader **out, struct helpers *helpers, int fd)
{
	int err = start(out, helpers, HELPER_USUAL);

	return close_on_error(out, err ? err : send_request(*out, READER_KEYS, 0, 0, fd));
}

int reader_route(struct reader *rd, uint64_t wait_ns)
{
	int32_t index;
	int err = receive_exactly(rd, &index, sizeof(index), wait_ns);

	if (err)
		return err;
	return index >= 0 && index <= (int32_t)WIRE_NO_KEY ? index : -EPIPE;
}

/* ---- the options of a JVM ------------------------------------------------------------------- */

int reader_ask_jvm(struct reader *rd, int memory, uint64_t start)
{
	return send_request(rd, READER_JVM, 0, start, memory);
}

int reader_jvm(struct reader *rd, struct jvm_flags *out, uint64_t wait_ns)
{
	struct reader_jvm answer;
	int err = receive_exactly(rd, &answer, sizeof(answer), wait_ns);

	if (err)
		return err;
	if (answer.err)
		return answer.err < 0 && answer.err != -EAGAIN ? answer.err : -EPIPE;
	out->frame_pointers = answer.frame_pointers == 1;
	out->compiles = answer.compiles == 1;
	out->is_deaf = answer.is_deaf == 1;
	return 0;
}
