/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_light.h - --light: which requests are told. Those that take as long as a sleep that has
 * stacks, or longer than nearly all of their kind: the slowest hundredth, about; for which their
 * reader had slept that long, as only they say that it had waited for work; and of all others one
 * in so many, with how many it stands for. Part of chaincap.bpf.c.
 *
 * Of a kind are requests to one port that begin with the same bytes. Strangers choose these, so
 * there are so many places for kinds, and several may share one: then what is usual is that of all.
 */
#pragma once

#define REQUEST_KINDS 1024u
#define TOLD_ONE_IN 64

struct request_kind {
	__u64 usual_ns; /* all but a hundredth take less; 0: none came yet */
	__s64 quick;	/* were not told since the last one that stands for others */
};

/* One element, unless it is used. */
MAP(request_kinds, PERCPU_ARRAY, REQUEST_KINDS, __u32, struct request_kind);

/* asks: a hash of what it begins with. */
static __always_inline struct request_kind *kind_of(__u16 port, __u64 asks)
{
	__u32 place = mix_chosen(asks, port) & (REQUEST_KINDS - 1);

	return bpf_map_lookup_elem(&request_kinds, &place);
}

static __always_inline struct request_kind *kind_of_request(struct sock *sk,
							    const struct open_request *r)
{
	const struct request_bytes *b = r->connection ? bytes_of(sk, r) : NULL;
	const __u64 *words = b ? (const void *)b->at : NULL;

	return kind_of(sk->__sk_common.skc_num,
		       words ? mix_chosen(mix_chosen(hash_seed, words[0]), words[1]) : hash_seed);
}

/*
 * Whether it took longer than is usual. That grows by an eighth where one did, and shrinks by a
 * 1024th where one did not: it stays where one in 129 does.
 */
static __always_inline bool is_unusual(struct request_kind *k, __u64 took_ns)
{
	if (took_ns > k->usual_ns) {
		k->usual_ns = k->usual_ns ? k->usual_ns + k->usual_ns / 8 + 1 : took_ns;
		return true;
	}
	k->usual_ns -= k->usual_ns / 1024;
	return false;
}

/* Whether it came while its reader slept for long. */
static __always_inline bool ended_long_sleep(const struct open_request *r)
{
	struct bare_sleep *b = bare_sleep_of(r->reader);

	return b && b->long_tid == r->reader && r->arrival_ns >= b->long_from_ns &&
	       r->arrival_ns <= b->long_to_ns;
}

/* The first answer of a request was written: whether it is told, by how long it has taken. */
static __always_inline bool is_light_told(struct open_request *r, struct request_kind *k,
					  struct wire_request_account *a, __u64 took_ns)
{
	if (!k || is_unusual(k, took_ns) || took_ns >= light_ns || ended_long_sleep(r))
		return true;
	if (k->quick >= TOLD_ONE_IN - 1) {
		r->flags |= (__u16)(k->quick << CHAINLOG_REQUEST_OTHERS);
		k->quick = 0;
		return true;
	}
	k->quick++;
	a->quick++;
	r->quick = true;
	return false;
}

/* Its last answer was: whether it is told now, as it took long in the end. */
static __always_inline bool is_slow_in_the_end(struct sock *sk, const struct open_request *r)
{
	struct wire_request_account *a;
	struct request_kind *k;
	__u32 zero = 0;

	if (!r->quick || r->answer_ns - r->arrival_ns < light_ns)
		return false;
	a = bpf_map_lookup_elem(&request_accounts, &zero);
	k = kind_of_request(sk, r);
	/* It was counted as one that is not told; perhaps by another CPU, so this may be below 0.
	 */
	if (k && a) {
		k->quick--;
		a->quick--;
	}
	return true;
}
