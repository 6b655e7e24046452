/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_private.h - the BPF side, shared by bpf.c (loading, attaching, counters), bpf_rings.c (ring
 * buffers), bpf_stacks.c (tables and maps of stacks), bpf_layouts.c (stacks known without a walk),
 * bpf_threads.c (the list of threads),
 * bpf_light.c (--light), bpf_edges.c (its switches and wakings without stacks), bpf_older.c (the
 * objects for older kernels), bpf_requests.c (requests at sockets), bpf_probes.c (those that probes
 * mark), bpf_processes.c (published contexts, interpreters) and bpf_pause.c (between two
 * recordings).
 */
#pragma once

#include <bpf/libbpf.h>
#include <pthread.h>
#include <sys/types.h>

#include "bpf.h"
#include "grace.h"
#include "sampler.h"
#include "stack_slots.h"
#include "stack_trie.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "chaincap.skel.h"
#pragma GCC diagnostic pop

/* The ring buffer of a CPU, and where its records go while it is drained: one thread's at a time.
 */
struct cpu_ring {
	struct ring_buffer *buffer; /* NULL: there is none */
	int fd;			    /* owned if there is a buffer */
	struct bpf_session *session;
	bpf_record_fn fn;
	void *ctx;
	size_t budget; /* how many more records it may have in this turn */
	size_t taken;  /* in this turn */
} __attribute__((aligned(64)));

struct bpf_session {
	struct chaincap_bpf *skel;
	enum bpf_programs programs;
	uint32_t cpus;
	uint32_t max_stack; /* frames of a kernel stack */
	uint32_t swept_at;  /* newest stack id at the last sweep */
	struct slot_finder *finder;
	struct layouts *layouts;     /* in the tree */
	uint32_t n_samples;	     /* atomic: that came since somebody asked */
	struct stack_trie trie;	     /* in memory shared with BPF */
	struct wire_rules *rules;    /* likewise; NULL: there are no user stacks */
	uint64_t *generations;	     /* likewise, by the low bits of the tgid */
	struct wire_copier *copiers; /* likewise */
	uint32_t n_rules;	     /* added so far */
	/* Runs that the kernel skipped before the begin, and before the end. */
	uint64_t skipped_before, skipped_at_end;
	uint64_t skipped_at_pause; /* those between two recordings do not count */
	uint32_t sample_hz;
	struct sampler *sampler; /* NULL: there is none */
	int sampling;		 /* why not, a negative errno */
	bool finds_requests;
	uint64_t counted_ns;		/* when sockets were counted last */
	const struct bpf_probe *probes; /* borrowed until all is attached */
	size_t n_probes;
	struct bpf_link **probe_links; /* as many; NULL: not attached */
	bool ended, detached;
	bool is_paused;	   /* between two recordings */
	bool *paused;	   /* by number in the skeleton: detached until bpf_session_resume() */
	bool has_detacher; /* detaches in the background; to be joined */
	pthread_t detacher;
	uint32_t code_forgotten_at; /* last_code_id then */
	size_t ring_size;	    /* of an online CPU, */
	size_t offline_ring_size;   /* and of one that may come online */
	struct cpu_ring *rings;	    /* by CPU */
	bool *is_online;	    /* likewise, at the start */
	uint32_t edge_words;	    /* of each of these: room for edges, */
	struct edge_arrays *edges;  /* NULL: it is no light recording */
	pid_t helper;		    /* the process that put them into the map; 0: has ended */
};

/* How far ahead the begin or end is set, so that all CPUs see the new value before. */
#define BPF_SESSION_AHEAD_NS 100000u

/*
 * How many events the kernel has skipped because their program was interrupted by them. Arrivals of
 * data are no events, nor are probes.
 */
uint64_t bpf_session_skipped_runs(const struct bpf_session *s);

/* Which CPUs are online. Returns 0 or -ENOMEM. */
int bpf_session_find_online(struct bpf_session *s);
/*
 * Makes a ring for each CPU that can come online, of buffer_size bytes; 0: as many as suit the
 * machine. Returns 0 or a negative errno; bpf_session_free_rings() in both cases.
 */
int bpf_session_make_rings(struct bpf_session *s, size_t buffer_size);
void bpf_session_free_rings(struct bpf_session *s);

/*
 * Before loading: in another PID namespace than the initial one, the program that lists all
 * threads, if the kernel has what that needs (Linux 6.2).
 */
void bpf_session_load_list(struct chaincap_bpf *skel, const struct btf *kernel);

/*
 * Whether an error of loading means that the kernel refused the programs for what they are: not for
 * a reason that may be gone a moment later, or that holds for all programs.
 */
bool bpf_older_may_load(int err);
/* The object with these programs, with the skeleton of the usual one; NULL with errno. */
struct chaincap_bpf *bpf_older_open(enum bpf_programs programs);
/* Takes out what they leave out. */
void bpf_older_options(struct bpf_options *o, enum bpf_programs programs);
/* Before loading, after all other choices of programs: leaves out what an object does not use. */
void bpf_older_load(struct chaincap_bpf *skel, enum bpf_programs programs);
/* How many bytes of variables an object uses, the first ones. */
size_t bpf_older_variables(const struct chaincap_bpf *skel, enum bpf_programs programs);
/* When plain programs are loaded: the first ids of stacks. Returns 0 or a negative errno. */
int bpf_older_fill(const struct chaincap_bpf *skel);
/* As bpf_session_find_tables(), of programs that are not the usual ones. */
void bpf_older_tables(struct bpf_session *s);

/* Before loading: whether to record the contexts that processes publish. */
void bpf_session_load_contexts(struct chaincap_bpf *skel, bool wanted);
/* Likewise the frames of interpreted code. */
void bpf_session_load_code(struct chaincap_bpf *skel, uint32_t languages);

/* Now and then empties the map of code objects: what comes again gets another id. */
void bpf_session_forget_code(struct bpf_session *s);

/* Before loading: sleeps of at least light_ns have stacks; 0: all (bpf_light.c). */
void bpf_session_load_light(struct chaincap_bpf *skel, uint64_t light_ns);
/*
 * After loading: finds how to read the memory of sleeping threads, if that is asked for. Returns 0,
 * -EOPNOTSUPP if this kernel has it in no way that is known, or another negative errno.
 */
int bpf_session_find_pages(struct bpf_session *s);

/*
 * Before loading, once it is known which CPUs are online: room for switches without stacks;
 * buffer_size: at most, in bytes, of a CPU; 0: as much as suits the machine.
 */
void bpf_session_size_edges(struct bpf_session *s, size_t buffer_size);
/* After loading, before anything is attached. Returns 0 or -ENOMEM. */
int bpf_session_map_edges(struct bpf_session *s);
void bpf_session_free_edges(struct bpf_session *s);
/*
 * Passes the switches and wakings without stacks that were on a CPU before until_ns to fn, as
 * WIRE_SWITCH_EDGE and WIRE_WAKING_EDGE, and WIRE_LOST for those that were overwritten. Returns 0
 * or what fn does.
 */
int bpf_session_edges(struct bpf_session *s, uint32_t cpu, uint64_t until_ns, bpf_record_fn fn,
		      void *ctx);
/* Adds them to what was counted. */
void bpf_session_count_edges(const struct bpf_session *s, struct bpf_counts *c);

/* Before loading: whether to load the programs that record who queued what workers execute. */
void bpf_session_load_work(struct chaincap_bpf *skel, bool wanted);
/* Before loading: whether to load the programs of requests at sockets, besides on_data. */
void bpf_session_load_requests(struct chaincap_bpf *skel, bool wanted, bool routes);
/* Likewise the program of probes, if there are any. */
void bpf_session_load_probes(struct bpf_session *s, const struct bpf_options *o);
/* Attaches it everywhere. Returns 0, or a negative errno with the reason in why. */
int bpf_session_attach_probes(struct bpf_session *s, char *why, size_t why_size);
void bpf_session_detach_probes(struct bpf_session *s);
/*
 * Returns a descriptor; reading it runs the iterator, of one of tasks for process tgid alone if
 * that is not 0. Or returns a negative errno.
 */
int bpf_session_iterator(const struct bpf_program *prog, uint32_t tgid);
/*
 * Runs an iterator whose output nobody needs, and closes it. Returns 0 or a negative errno; -ETIME:
 * it stopped at list_until_ns.
 */
int bpf_session_iterate(struct bpf_session *s, int fd);
/*
 * Passes what an iterator lists, structs of size bytes, to fn, which ends it by a negative result;
 * fd is closed. Returns 0 or a negative errno; -ETIME: it was not over at until_ns
 * (CLOCK_MONOTONIC).
 */
int bpf_session_list(int fd, size_t size, uint64_t until_ns, int (*fn)(void *ctx, const void *item),
		     void *ctx);
/* Before loading: how many sockets may have something of the recorder's, by its memory in bytes. */
void bpf_session_limit_sockets(struct chaincap_bpf *skel, uint64_t memory);
/* Counts the sockets that have something of the recorder's, if they may be too many. */
void bpf_session_count_sockets(struct bpf_session *s);
/* Finds the connections of unix sockets that exist, if there are requests. */
void bpf_session_list_unix(struct bpf_session *s);
/* n more of these were left out; may be 0. */
void bpf_session_leave_out(struct bpf_session *s, enum chainlog_left_out what, uint64_t n);
/* Attaches the programs of requests at sockets, or says why none is; then finds the connections
 * that exist. */
void bpf_session_attach_requests(struct bpf_session *s);
/* After the end: adds to the rings what is open of requests. */
void bpf_session_end_requests(struct bpf_session *s);

/* The tables that the collector writes, when the BPF side is loaded; they go with it. */
void bpf_session_find_tables(struct bpf_session *s);

/* The layouts of stacks; none at first. Returns 0 or -ENOMEM; free them in both cases. */
int bpf_session_make_layouts(struct bpf_session *s);
void bpf_session_free_layouts(struct bpf_session *s);
/* A record of len bytes was drained, which may refer to a layout. */
void bpf_session_note_use(struct bpf_session *s, const struct wire_record *r, size_t len);
/* After each drain: forgets layouts if their room is used up, or their code has changed. */
void bpf_session_forget(struct bpf_session *s);
