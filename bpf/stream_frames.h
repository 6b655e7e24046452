/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream_frames.h - what frames of HTTP/2 say of streams (RFC 9113, sections 3.4 and 4.1), on a
 * connection of which all that was read and written is seen, in the memory of those who do: a
 * stream begins with the first headers that are read for it, and ends when the frame is written
 * that says so, or with one that resets it. Of what is read the headers are sent, all others are
 * skipped. Part of chaincap.bpf.c.
 *
 * Where a call reads or writes anything but what lies in its caller's memory (sendfile, splice,
 * io_uring), only what is within a frame that is skipped can be followed.
 */
#pragma once

#define FRAME_HEADER 9u
#define FRAME_STEPS 512 /* of a call: frames, parts of memory, and parts of these */
#define HEADERS_CHUNK \
	64u /* bytes of headers in a step, by which the verifier sees that there is room */
#define FRAME_DATA 0
#define FRAME_HEADERS 1
#define FRAME_RESET 3
#define FRAME_CONTINUATION 9
#define END_STREAM 1
#define END_HEADERS 4
#define PADDED 8

/* Of a connection; servers allow some 100 to 250. One has its place by its number, or behind it. */
#define STREAMS_OPEN 128u
#define STREAM_PLACES 8
/* Of what comes before it is read, so many times are known. */
#define STREAM_ARRIVALS 64u

struct open_stream {
	struct open_request r; /* nth: of the connection's headers */
	__u64 asks;	       /* hash of what its headers begin with */
	__u32 id;	       /* 0: none is here */
	__u32 place;
};

/*
 * How far the frames in one direction were followed, and what only those have who read, or only
 * those who write: one may do so while the other does, on another CPU.
 */
struct frames {
	__u32 left; /* of the last one */
	__u32 stream;
	__u8 type, flags;
	__u8 n_header;		       /* bytes of the next one's header that have come */
	__u8 header[2 * FRAME_HEADER]; /* and room for the verifier */

	/* As of now, while frames are looked at. */
	__u32 tid;		  /* who reads or writes */
	__u32 n_ended;		  /* streams that end */
	__u64 at_ns;		  /* when that was */
	__u64 longest_ns;	  /* of those that end */
	__u8 ended[STREAMS_OPEN]; /* places */
};

/* Bytes before seq had come by then. */
struct arrival {
	__u64 ns;
	__u32 seq;
};

struct streams {
	struct frames read, written;
	bool is_lost; /* they cannot be followed any more */
	bool is_old;  /* what was before was not seen: they may be something else */
	__u16 port;

	/* Of what is read now. */
	__u16 flags;   /* of streams that begin */
	__u32 seq;     /* of the next byte */
	__u64 came_ns; /* when it arrived, where no arrival says it */
	/* Of the last one that a write has ended and that was told; 0: none was. */
	__u32 told_seq, told_bytes;

	__u32 first_arrival, n_arrivals;
	struct arrival arrivals[STREAM_ARRIVALS];
	struct open_stream at[STREAMS_OPEN];
	struct wire_headers headers;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct streams);
} streams SEC(".maps");

/* What that takes, as a number of sockets with nothing but requests. */
#define STREAMS_AS_SOCKETS 9

_Static_assert(sizeof(struct streams) <= (16 << 10) - 72, "an element has 16 KiB");

/* ---- streams -------------------------------------------------------------------------------- */

/* The place that has this number, near that of stream id; NULL: none. */
static __noinline struct open_stream *find_stream(struct streams *s, __u32 id, __u32 number)
{
	for (__u32 i = 0; i < STREAM_PLACES; i++) {
		__u32 place = (id / 2 + i) & (STREAMS_OPEN - 1);

		barrier_var(place);
		if (place >= STREAMS_OPEN || s->at[place].id != number)
			continue;
		s->at[place].place = place;
		return &s->at[place];
	}
	return NULL;
}

/* When the byte came that was read last; 0: not known. */
static __noinline __u64 arrival_of_last(struct streams *s)
{
	__u32 n = s->n_arrivals;

	if (n - s->first_arrival > STREAM_ARRIVALS)
		s->first_arrival = n - STREAM_ARRIVALS;
	for (__u32 i = 0; i < STREAM_ARRIVALS && s->first_arrival != n; i++) {
		const struct arrival *a = &s->arrivals[s->first_arrival & (STREAM_ARRIVALS - 1)];

		if ((__s32)(a->seq - s->seq) >= 0)
			return a->ns;
		s->first_arrival++;
	}
	return 0;
}

/* More has come: up to seq. */
static __always_inline void note_arrival(struct streams *s, __u32 seq, __u64 now)
{
	s->arrivals[s->n_arrivals & (STREAM_ARRIVALS - 1)] = (struct arrival) { now, seq };
	s->n_arrivals++;
}

static __always_inline void begin_stream(struct streams *s, struct open_stream *o, __u32 id)
{
	__u64 came_ns = arrival_of_last(s);

	__builtin_memset(&o->r, 0, sizeof(o->r));
	o->asks = 0;
	o->r.arrival_ns = came_ns && came_ns <= s->read.at_ns ? came_ns : s->came_ns;
	o->r.taken_ns = s->read.at_ns;
	o->r.reader = s->read.tid;
	o->r.first_seq = s->seq - FRAME_HEADER;
	o->r.flags = s->flags | CHAINLOG_REQUEST_STREAM;
	o->r.connection = s->headers.connection;
	o->r.nth = s->headers.nth;
	o->id = id;
}

static __always_inline void end_stream(struct frames *f, const struct open_stream *o)
{
	__u32 n = f->n_ended & (STREAMS_OPEN - 1);
	__u64 took_ns = f->at_ns - o->r.arrival_ns;

	barrier_var(n);
	if (n >= STREAMS_OPEN)
		return;
	f->ended[n] = (__u8)o->place;
	f->n_ended = n + 1;
	if (took_ns > f->longest_ns)
		f->longest_ns = took_ns;
}

/* ---- headers -------------------------------------------------------------------------------- */

/* They are sent when all of them were read. */
static __always_inline void send_headers(struct streams *s)
{
	struct open_stream *o = find_stream(s, s->read.stream, s->read.stream);
	const __u64 *words = (const void *)s->headers.bytes;
	__u32 n = s->headers.n_bytes;
	void *ring = this_ring();

	if (o && o->r.nth == s->headers.nth)
		o->asks = mix_chosen(mix_chosen(hash_seed, words[0]), words[1]);
	fill_record(&s->headers.r, s->read.at_ns, WIRE_HEADERS);
	barrier_var(n);
	if (ring && n <= WIRE_HEADERS_BYTES)
		bpf_ringbuf_output(ring, &s->headers,
				   __builtin_offsetof(struct wire_headers, bytes) + n,
				   BPF_RB_NO_WAKEUP);
}

/* Keeps the next of them. Returns how many; 0: there is no memory. */
static __always_inline __u32 take_headers(struct wire_headers *h, __u64 from, __u64 n)
{
	__u32 at = h->n_bytes, size = n < HEADERS_CHUNK ? (__u32)n : HEADERS_CHUNK;

	barrier_var(at);
	barrier_var(size);
	if (at > WIRE_HEADERS_BYTES - HEADERS_CHUNK) {
		h->is_cut |= WIRE_HEADERS_CUT;
		return n < (1u << 24) ? (__u32)n : 1u << 24;
	}
	if (size > HEADERS_CHUNK || bpf_probe_read_user(h->bytes + at, size, (void *)from))
		return 0;
	h->n_bytes = (__u16)(at + size);
	return size;
}

static __always_inline bool has_headers(const struct frames *f)
{
	return f->type == FRAME_HEADERS || f->type == FRAME_CONTINUATION;
}

/* ---- frames --------------------------------------------------------------------------------- */

static __always_inline void frame_begins_read(struct streams *s)
{
	struct frames *f = &s->read;
	struct open_stream *o = find_stream(s, f->stream, f->stream);

	if (f->type == FRAME_HEADERS) {
		s->headers.nth++;
		s->headers.n_bytes = 0;
		s->headers.flags = f->flags;
		s->headers.is_cut = s->is_old ? WIRE_HEADERS_OLD : 0;
		__builtin_memset(s->headers.bytes, 0, 16);
		if (!o && f->stream & 1) {
			o = find_stream(s, f->stream, 0);
			if (o)
				begin_stream(s, o, f->stream);
			else
				leave_out(CHAINLOG_LEFT_STREAMS);
		}
	} else if (f->type == FRAME_CONTINUATION) {
		s->headers.flags |= f->flags & END_HEADERS;
		/* There is padding between. */
		if (s->headers.flags & PADDED)
			s->headers.is_cut |= WIRE_HEADERS_CUT;
	} else if (f->type == FRAME_RESET && o) {
		end_stream(f, o);
	}
	if (o && f->type != FRAME_RESET)
		add_bytes(&o->r.bytes_read, (int)(FRAME_HEADER + f->left));
}

static __always_inline void frame_begins_written(struct streams *s)
{
	const struct frames *f = &s->written;
	struct open_stream *o = find_stream(s, f->stream, f->stream);

	if (o && (f->type == FRAME_DATA || f->type == FRAME_HEADERS || f->type == FRAME_RESET))
		note_write(&o->r, (int)(FRAME_HEADER + f->left), f->tid, f->at_ns);
}

static __always_inline void frame_ends(struct streams *s, bool is_write)
{
	struct frames *f = is_write ? &s->written : &s->read;
	struct open_stream *o;

	if (!is_write) {
		if (has_headers(f) && s->headers.flags & END_HEADERS && s->headers.nth)
			send_headers(s);
		return;
	}
	if (f->type > FRAME_RESET || !f->stream)
		return;
	o = find_stream(s, f->stream, f->stream);
	if (!o)
		return;
	/* The last of it may have been written later than the first. */
	if (o->r.answer_ns) {
		o->r.answer_ns = f->at_ns;
		o->r.writer = f->tid;
	}
	if (f->type == FRAME_RESET || (f->type <= FRAME_HEADERS && f->flags & END_STREAM))
		end_stream(f, o);
}

/* Takes bytes of a frame's header. Returns how many; 0: it is none, or there is no memory. */
static __always_inline __u32 take_header(struct frames *f, bool is_old, __u64 from, __u64 n)
{
	__u32 at = f->n_header, size;

	barrier_var(at);
	if (at >= FRAME_HEADER)
		return 0;
	size = n < FRAME_HEADER - at ? (__u32)n : FRAME_HEADER - at;
	barrier_var(size);
	if (size > FRAME_HEADER || bpf_probe_read_user(f->header + at, size, (void *)from))
		return 0;
	f->n_header = (__u8)(at + size);
	if (f->n_header < FRAME_HEADER)
		return size;
	f->n_header = 0;
	f->left = (__u32)f->header[0] << 16 | (__u32)f->header[1] << 8 | f->header[2];
	f->type = f->header[3];
	f->flags = f->header[4];
	f->stream = (__u32)f->header[5] << 24 | (__u32)f->header[6] << 16 |
		    (__u32)f->header[7] << 8 | f->header[8];
	/* A bit that is never set; and what nobody sends unless the other end allows it. */
	if (f->stream >> 31 || (is_old && (f->left > 1u << 14 || f->type > FRAME_CONTINUATION)))
		return 0;
	return size;
}

/* ---- what a call reads or writes ------------------------------------------------------------ */

/* Bytes of a call, n of which are left: part_left of them from at on, then those of the array. */
struct frame_walk {
	struct streams *s;
	bool is_write;
	struct call_memory memory;
	__u64 part_left, n;
};

static __always_inline bool next_part(struct frame_walk *w)
{
	struct read_part part;
	__u32 words[2];

	if (!w->memory.n)
		return false;
	w->memory.n--;
	if (!w->memory.is_32) {
		if (bpf_probe_read_user(&part, sizeof(part), (void *)w->memory.array))
			return false;
		w->memory.array += sizeof(part);
	} else {
		if (bpf_probe_read_user(words, sizeof(words), (void *)w->memory.array))
			return false;
		w->memory.array += sizeof(words);
		part = (struct read_part) { words[0], words[1] };
	}
	w->memory.at = part.at;
	w->part_left = part.n < w->n ? part.n : w->n;
	return true;
}

/* One step through them. 1: the end. */
static long walk_frames(__u32 i, struct frame_walk *w)
{
	struct streams *s = w->s;
	bool is_write = w->is_write;
	struct frames *f = is_write ? &s->written : &s->read;
	bool begins = !f->left;
	__u64 n = w->part_left;

	(void)i;
	if (!w->n)
		return 1;
	if (!n)
		return !next_part(w);
	if (begins)
		n = take_header(f, s->is_old, w->memory.at, n);
	else if (f->left < n)
		n = f->left;
	if (!begins && !is_write && has_headers(f))
		n = take_headers(&s->headers, w->memory.at, n);
	if (!n)
		return 1;
	w->memory.at += n;
	w->part_left -= n;
	w->n -= n;
	if (!is_write)
		s->seq += (__u32)n;
	if (!begins)
		f->left -= (__u32)n;
	else if (f->n_header)
		return 0;
	else if (is_write)
		frame_begins_written(s);
	else
		frame_begins_read(s);
	if (!f->left)
		frame_ends(s, is_write);
	return 0;
}

LOOP(walk_frames, struct frame_walk, FRAME_STEPS)

/* n bytes were read or written. memory NULL: nobody knows which. */
__noinline int follow_frames(struct streams *s, bool is_write, const struct call_memory *memory,
			     __u32 n)
{
	struct frame_walk w = { .s = s, .is_write = is_write, .n = n };
	struct frames *f;

	if (!s)
		return 0;
	if (memory) {
		w.memory = *memory;
		w.part_left = memory->n ? 0 : n;
		loop_walk_frames(&w);
		s->is_lost |= w.n != 0;
		return 0;
	}
	f = is_write ? &s->written : &s->read;
	if (f->left < n || (!is_write && has_headers(f))) {
		s->is_lost = true;
		return 0;
	}
	f->left -= n;
	if (!is_write)
		s->seq += n;
	if (!f->left)
		frame_ends(s, is_write);
	return 0;
}
