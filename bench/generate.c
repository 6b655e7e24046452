// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * generate - writes a trace of any size with the recorder's own encoder, for measuring the
 * engine: the server of server.h. The same options give the same bytes.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

#define START_NS UINT64_C(1000000000)

/* ---- what the stacks look like -------------------------------------------------------------- */

static const char *const syscall_frames = "do_syscall_64;entry_SYSCALL_64_after_hwframe";

/* Kernel frames of a place, leaf first; user: the libc frames that lead there. */
static const struct {
	const char *kernel, *user;
} places[PLACES] = {
	[PLACE_WAIT_REQUEST] = { "__schedule;schedule;schedule_hrtimeout_range_clock;ep_poll;"
				 "do_epoll_wait;__x64_sys_epoll_wait",
				 "epoll_wait" },
	[PLACE_WAIT_JOB] = { "__schedule;schedule;futex_wait_queue;__futex_wait;futex_wait;"
			     "do_futex;__x64_sys_futex",
			     "__futex_abstimed_wait_common;pthread_cond_wait;queue_pop" },
	[PLACE_GIVE_JOB] = { "try_to_wake_up;wake_up_q;futex_wake;do_futex;__x64_sys_futex",
			     "__GI___futex_wake;pthread_cond_signal;queue_push" },
	[PLACE_WAIT_REPLY] = { "__schedule;schedule;schedule_timeout;unix_stream_data_wait;"
			       "unix_stream_read_generic;unix_stream_recvmsg;sock_recvmsg;"
			       "__sys_recvfrom;__x64_sys_recvfrom",
			       "__libc_recv;rpc_receive;rpc_call" },
	[PLACE_REPLY] = { "try_to_wake_up;default_wake_function;autoremove_wake_function;"
			  "__wake_up_common;__wake_up_sync_key;sock_def_readable;"
			  "unix_stream_sendmsg;__sys_sendto;__x64_sys_sendto",
			  "__libc_send;rpc_reply" },
	[PLACE_LOCK] = { "__schedule;schedule;futex_wait_queue;__futex_wait;futex_wait;do_futex;"
			 "__x64_sys_futex",
			 "__lll_lock_wait;pthread_mutex_lock;cache_lookup" },
	[PLACE_UNLOCK] = { "try_to_wake_up;wake_up_q;futex_wake;do_futex;__x64_sys_futex",
			   "__lll_lock_wake;pthread_mutex_unlock;cache_lookup" },
	[PLACE_WAIT_DISK] = { "__schedule;schedule;io_schedule;folio_wait_bit_common;"
			      "filemap_read;ext4_file_read_iter;vfs_read;__x64_sys_pread64",
			      "__libc_pread64;page_read" },
	[PLACE_IRQ_NETWORK] = { "try_to_wake_up;ep_autoremove_wake_function;__wake_up_common;"
				"ep_poll_callback;sock_def_readable;tcp_data_queue;tcp_v4_rcv;"
				"ip_rcv;__netif_receive_skb;net_rx_action;handle_softirqs;"
				"irq_exit_rcu;common_interrupt;asm_common_interrupt",
				NULL },
	[PLACE_IRQ_DISK] = { "try_to_wake_up;folio_wake_bit;folio_end_read;mpage_read_end_io;"
			     "blk_mq_end_request;nvme_irq;__handle_irq_event_percpu;"
			     "handle_edge_irq;__common_interrupt;common_interrupt;"
			     "asm_common_interrupt",
			     NULL },
	[PLACE_IRQ_TIMER] = { "try_to_wake_up;wake_up_process;call_timer_fn;run_timer_softirq;"
			      "handle_softirqs;irq_exit_rcu;sysvec_apic_timer_interrupt;"
			      "asm_sysvec_apic_timer_interrupt",
			      NULL },
};

struct output {
	struct encoder *e;
	uint32_t spaces[ROLES];
	FILE *file;
};

static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

/* A frame of that name: its address follows from the name, as in a program that has functions. */
static uint32_t frame(struct encoder *e, uint32_t space, const char *name)
{
	uint64_t base = space ? 0x400000 : 0xffffffff81000000u;
	uint32_t id = encoder_frame(e, space, base + 16 * (hash(name) % 0x80000));

	encoder_name(e, id, encoder_text(e, name), 0, 5);
	return id;
}

/* Adds the frames of a list joined by ';'. Returns how many there are then. */
static size_t add_frames(struct encoder *e, uint32_t space, uint32_t *ids, size_t n,
			 const char *list)
{
	char name[64];

	while (*list && n < CHAINLOG_STACK_MAX) {
		size_t len = strcspn(list, ";");

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		ids[n++] = frame(e, space, name);
		list += len + (list[len] == ';');
	}
	return n;
}

/* How many kinds of requests can be told apart by a stack. */
static unsigned int kinds(enum server_role role, enum server_place place)
{
	if (place == PLACE_WAIT_REQUEST || place == PLACE_WAIT_JOB)
		return 1;
	return role == ROLE_WORKER || role == ROLE_QUERY ? SERVER_KINDS
	       : role == ROLE_CLIENT			 ? 8
							 : 2;
}

static uint32_t user_stack(struct output *out, enum server_role role, unsigned int kind,
			   enum server_place place)
{
	uint32_t ids[CHAINLOG_STACK_MAX], space = out->spaces[role];
	const char *who = server_role_name(role);
	size_t n = add_frames(out->e, space, ids, 0, places[place].user);
	char name[64];

	/* The deeper the call, the more it depends on the kind of request. */
	kind %= kinds(role, place);
	for (unsigned int depth = 4 + kind % 5; depth; depth--) {
		snprintf(name, sizeof(name), "%s_handle_%u_%u", who,
			 depth > 2 ? kind : kind % (4 * depth), depth);
		ids[n++] = frame(out->e, space, name);
	}
	snprintf(name, sizeof(name), "%s_dispatch;%s_main;start_thread;__clone3", who, who);
	n = add_frames(out->e, space, ids, n, name);
	return encoder_stack(out->e, ids, n, 0);
}

static struct server_stack stack_of(void *arg, enum server_role role, unsigned int kind,
				    enum server_place place)
{
	uint32_t ids[CHAINLOG_STACK_MAX];
	struct output *out = arg;
	struct server_stack s = { 0, 0 };
	size_t n;

	if (role == ROLE_KWORKER && place == PLACE_WAIT_JOB) {
		n = add_frames(out->e, 0, ids, 0,
			       "__schedule;schedule;worker_thread;kthread;ret_from_fork");
		s.kernel = encoder_stack(out->e, ids, n, 0);
		return s;
	}
	n = add_frames(out->e, 0, ids, 0, places[place].kernel);
	if (places[place].user) {
		n = add_frames(out->e, 0, ids, n, syscall_frames);
		s.user = user_stack(out, role, kind, place);
	}
	s.kernel = encoder_stack(out->e, ids, n, 0);
	return s;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int write_block(void *ctx, const void *block, size_t len)
{
	struct output *out = ctx;

	return fwrite(block, 1, len, out->file) == len ? 0 : -EIO;
}

static int generate(struct output *out, struct server_options *o)
{
	struct chainlog_info info = {
		.host = "made",
		.release = "6.1.0",
		.arch = "x86_64",
		.options = "generate",
		.tool = "generate " CHAIN_VERSION,
		.cpus = o->cpus,
		.start_ns = START_NS,
		.parts = 3,
	};
	struct encoder_counts counts;
	uint64_t end_ns = 0;
	int err = encoder_new(&out->e, write_block, out);

	if (err)
		return err;
	err = encoder_info(out->e, &info);
	for (int r = 0; r < ROLES; r++)
		out->spaces[r] = encoder_space(out->e, 1000 + (uint32_t)r,
					       server_role_name((enum server_role)r));
	if (!err)
		err = server_run(out->e, o, &end_ns);
	encoder_counts(out->e, &counts);
	if (!err)
		err = encoder_end(out->e, end_ns, counts.events, 0);
	encoder_free(out->e);
	return err;
}

static const struct option long_options[] = {
	{ "events", required_argument, NULL, 'n' },
	{ "idle", required_argument, NULL, 'i' },
	{ "cpus", required_argument, NULL, 'c' },
	{ "seed", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

static int usage(void)
{
	fputs("usage: generate [--events N] [--idle THREADS] [--cpus N] [--seed N] FILE\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct server_options o = {
		.events = 1000000,
		.seed = 1,
		.start_ns = START_NS,
		.cpus = 4,
		.stack = stack_of,
	};
	struct output out = { .file = NULL };
	uint64_t n;
	int c, err;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		char *end = optarg;

		n = c == '?' ? 0 : strtoull(optarg, &end, 10);
		if (!end || *end || end == optarg)
			return usage();
		if (c == 'n')
			o.events = n;
		else if (c == 'i' && n <= 100000)
			o.idle = (uint32_t)n;
		else if (c == 'c' && n >= 1 && n <= 1024)
			o.cpus = (uint32_t)n;
		else if (c == 's')
			o.seed = n;
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	out.file = fopen(argv[optind], "we");
	if (!out.file) {
		fprintf(stderr, "generate: %s: %s\n", argv[optind], strerror(errno));
		return 1;
	}
	o.arg = &out;
	err = generate(&out, &o);
	if (fclose(out.file) && !err)
		err = -errno;
	if (err)
		fprintf(stderr, "generate: %s: %s\n", argv[optind], strerror(-err));
	return err ? 1 : 0;
}
