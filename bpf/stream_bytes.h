/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream_bytes.h - what of a request of HTTP/2 is taken, on a connection that is seen from its
 * beginning (RFC 9113, sections 3.4 and 4.1): its frames of headers, to which later ones refer, and
 * of the others their headers, which say then that they are empty. Part of request_bytes.h.
 */
#pragma once

#define PREFACE_BYTES 24
#define FRAME_HEADER 9u
#define FRAMES_MAX 64 /* steps of a read: frames, and parts of them */
#define STREAM_CHUNK \
	64u /* bytes of headers in a step, by which the verifier sees that there is room */
#define FRAME_HEADERS 1
#define FRAME_CONTINUATION 9

/* What a client says first. */
static __always_inline bool is_preface(const struct request_bytes *b)
{
	__u64 words[3];

	__builtin_memcpy(words, b->at, sizeof(words));
	return b->n >= PREFACE_BYTES && words[0] == *(const __u64 *)"PRI * HT" &&
	       words[1] == *(const __u64 *)"TP/2.0\r\n" &&
	       words[2] == *(const __u64 *)"\r\nSM\r\n\r\n";
}

/* There was too much, or it could not be read: nothing is known of the connection from here on. */
static __always_inline void lose_frames(struct first_bytes *f, struct request_bytes *b)
{
	f->streams.is_known = b->is_frames = false;
	b->is_closed = true;
}

/* Of what was taken the preface stays. */
static __always_inline void begin_frames(struct first_bytes *f, struct request_bytes *b)
{
	__builtin_memset(b->at + PREFACE_BYTES, 0, WIRE_REQUEST_BYTES - PREFACE_BYTES);
	__builtin_memset(&f->streams, 0, sizeof(f->streams));
	b->n = PREFACE_BYTES;
	f->streams.is_known = b->is_frames = true;
}

/* Bytes that are read; n: how many are left. */
struct frames_read {
	struct first_bytes *f;
	struct request_bytes *b;
	__u64 at, n;
};

/* The header of a frame is there: it is kept. False: there is no room. */
static __always_inline bool begin_frame(struct stream_reading *s, struct request_bytes *b)
{
	__u32 n = b->n;

	s->n_header = 0;
	s->left = (__u32)s->header[0] << 16 | (__u32)s->header[1] << 8 | s->header[2];
	s->is_headers = s->header[3] == FRAME_HEADERS || s->header[3] == FRAME_CONTINUATION;
	if (!s->is_headers)
		s->header[0] = s->header[1] = s->header[2] = 0;
	barrier_var(n);
	if (n > WIRE_STREAM_BYTES - FRAME_HEADER)
		return false;
	__builtin_memcpy(b->at + n, s->header, FRAME_HEADER);
	b->n = (__u16)(n + FRAME_HEADER);
	return true;
}

/* Takes bytes of a frame's header. Returns how many; 0: there is no room, or no memory. */
static __always_inline __u32 take_header(struct stream_reading *s, struct request_bytes *b,
					 __u64 from, __u64 n)
{
	__u32 at = s->n_header, size;

	barrier_var(at);
	if (at >= FRAME_HEADER)
		return 0;
	size = n < FRAME_HEADER - at ? (__u32)n : FRAME_HEADER - at;
	barrier_var(size);
	if (size > FRAME_HEADER || bpf_probe_read_user(s->header + at, size, (void *)from))
		return 0;
	s->n_header = (__u8)(at + size);
	if (s->n_header == FRAME_HEADER && !begin_frame(s, b))
		return 0;
	return size;
}

/* The same of what a frame of headers has. */
static __always_inline __u32 take_block(struct request_bytes *b, __u64 from, __u64 n)
{
	__u32 at = b->n, size = n < STREAM_CHUNK ? (__u32)n : STREAM_CHUNK;

	barrier_var(at);
	barrier_var(size);
	if (at > WIRE_STREAM_BYTES - STREAM_CHUNK || size > STREAM_CHUNK ||
	    bpf_probe_read_user(b->at + at, size, (void *)from))
		return 0;
	b->n = (__u16)(at + size);
	return size;
}

/* One step through them. 1: the end. */
static long take_step(__u32 i, struct frames_read *r)
{
	struct stream_reading *s = &r->f->streams;
	__u64 n = r->n;

	(void)i;
	if (!n)
		return 1;
	if (!s->left) {
		n = take_header(s, r->b, r->at, n);
	} else {
		if (s->left < n)
			n = s->left;
		if (s->is_headers)
			n = take_block(r->b, r->at, n);
		s->left -= (__u32)n;
	}
	r->at += n;
	r->n -= n;
	return !n;
}

LOOP(take_step, struct frames_read, FRAMES_MAX)

/*
 * n bytes of a connection's frames were read to user memory, for the request whose bytes are
 * of[nth & 1]. A function of its own, which the verifier looks at once.
 */
__noinline int take_frames(struct first_bytes *f, __u32 nth, __u64 at, __u64 n)
{
	struct frames_read r = { f, NULL, at, n };

	if (!f)
		return 0;
	r.b = nth & 1 ? &f->of[1] : &f->of[0];
	if (!n || !r.b->is_frames)
		return 0;
	loop_take_step(&r);
	if (r.n)
		lose_frames(f, r.b);
	return 0;
}

/* The same of what a call has read to two parts, but for so many bytes at the beginning. */
static __always_inline void take_parts(struct first_bytes *f, struct request_bytes *b, __u32 nth,
				       const struct read_part of[2], __u64 bytes, __u64 without)
{
	__u64 first = of[0].n < bytes ? of[0].n : bytes, rest = bytes - first;

	take_frames(f, nth, of[0].at + without, first - without);
	take_frames(f, nth, of[1].at, of[1].n < rest ? of[1].n : rest);
	if (of[1].n < rest)
		lose_frames(f, b);
}
