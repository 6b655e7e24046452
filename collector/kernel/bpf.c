// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "address.h"
#include "bpf_private.h"
#include "caps.h"
#include "clock.h"
#include "common/id_index.h"
#include "host_proc.h"
#include "refusal.h"

/* The programs that are tried first; others: to test those for older kernels on a newer one. */
#ifndef BPF_FIRST
#define BPF_FIRST BPF_USUAL
#endif

static int print_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	/* Debug messages have a line for each relocation. */
	if (level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, format, args);
}

/* Whether sched_switch passes prev's state as its fourth argument (since 5.18). */
static bool switch_has_state(const struct btf *btf)
{
	const struct btf_type *t;
	int id;

	id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* a pointer */
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* to a function */
	/* The prototype's first argument is the tracepoint's private data. */
	return !t || !btf_is_func_proto(t) || btf_vlen(t) >= 5;
}

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

/* A queue of a group knows for how long it was throttled, see bpf/quotas.h. */
static bool has_throttled_time(const struct btf *btf)
{
	__s32 id = btf__find_by_name_kind(btf, "cfs_rq", BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	for (__u16 i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off),
			    "throttled_clock_self_time"))
			return true;
	return false;
}

/* Sets what the programs cannot find out about the kernel themselves. */
static void configure_for_kernel(struct chaincap_bpf *skel, const struct bpf_options *o)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has_data_ready = false, has_local_timer = false, has_groups = false;
	bool has_work = false, has_timers = false, has_locks = false, wants_requests;

	skel->rodata->hash_seed = hash_seed();
	skel->rodata->address_mask = address_mask();
	skel->rodata->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	skel->rodata->switch_has_state = true;
	bpf_session_load_list(skel, btf);
	if (btf) {
		skel->rodata->switch_has_state = switch_has_state(btf);
		skel->rodata->can_cast =
			btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
		has_data_ready = has_tracepoint(btf, "sk_data_ready");
		if (!has_data_ready && o->verbose && skel->rodata->find_objects)
			fprintf(stderr,
				"chaincap: this kernel has no tracepoint sk_data_ready (Linux 6.3 "
				"has): which of several sockets ended a poll() is not known\n");
		has_local_timer = has_tracepoint(btf, "local_timer_entry");
		has_groups = has_tracepoint(btf, "cgroup_attach_task");
		skel->rodata->find_quotas = has_throttled_time(btf);
		has_work = has_tracepoint(btf, "workqueue_queue_work");
		has_timers = has_tracepoint(btf, "timer_expire_entry") &&
			     has_tracepoint(btf, "tcp_retransmit_skb");
		has_locks = has_tracepoint(btf, "posix_lock_inode") &&
			    has_tracepoint(btf, "flock_lock_inode");
		btf__free(btf);
	}
	wants_requests = skel->rodata->find_requests;
	if (wants_requests && !has_data_ready) {
		bpf_session_load_requests(skel, false, false);
		if (!o->quiet)
			fputs("chaincap: requests are not recorded: this kernel does not report "
			      "what is read from sockets (Linux 6.3 does)\n",
			      stderr);
	}
	bpf_program__set_autoload(skel->progs.on_data,
				  has_data_ready && (skel->rodata->find_objects || wants_requests));
	has_local_timer = has_local_timer && skel->rodata->time_interrupts;
	bpf_program__set_autoload(skel->progs.on_timer_irq, has_local_timer);
	bpf_program__set_autoload(skel->progs.on_timer_irq_done, has_local_timer);
	bpf_program__set_autoload(skel->progs.on_group_move, has_groups);
	bpf_program__set_autoload(skel->progs.on_group_rename, has_groups);
	bpf_session_load_work(skel, has_work);
	has_timers = has_timers && skel->rodata->find_objects;
	bpf_program__set_autoload(skel->progs.on_timer, has_timers);
	bpf_program__set_autoload(skel->progs.on_retransmit, has_timers);
	has_locks = has_locks && skel->rodata->find_objects;
	bpf_program__set_autoload(skel->progs.on_range_lock, has_locks);
	bpf_program__set_autoload(skel->progs.on_file_lock, has_locks);
}

/* The most frames that the kernel's own walks give: a sysctl, which may have been changed. */
static uint32_t read_max_stack(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int max = WIRE_STACK_MAX;

	if (!f)
		return max;
	if (fscanf(f, "%u", &max) != 1 || max > WIRE_STACK_MAX)
		max = WIRE_STACK_MAX;
	fclose(f);
	return max;
}

bool bpf_session_tells_quotas(const struct bpf_session *s)
{
	return s->programs != BPF_PLAIN && s->skel->rodata->find_quotas;
}

/* Selects whether to load the programs that record requests to block devices. */
static void load_disk_programs(struct chaincap_bpf *skel, bool wanted)
{
	bpf_program__set_autoload(skel->progs.on_disk_bio, wanted);
	bpf_program__set_autoload(skel->progs.on_disk_request, wanted);
	bpf_program__set_autoload(skel->progs.on_disk_issue, wanted);
	bpf_program__set_autoload(skel->progs.on_disk_done, wanted);
}

/* The same for the programs that time interrupts; x86's local timer: configure_for_kernel(). */
static void load_interrupt_programs(struct chaincap_bpf *skel, bool wanted)
{
	skel->rodata->time_interrupts = wanted;
	bpf_program__set_autoload(skel->progs.on_softirq, wanted);
	bpf_program__set_autoload(skel->progs.on_softirq_done, wanted);
	bpf_program__set_autoload(skel->progs.on_device_irq, wanted);
	bpf_program__set_autoload(skel->progs.on_device_irq_done, wanted);
}

bool bpf_session_finds_work(const struct bpf_session *s)
{
	return s->skel->rodata->find_work;
}

/* Puts into why the reason for which loading or attaching failed with err. */
static void explain(int err, char *why, size_t why_size)
{
	struct refusal refusal;

	refusal_look(&refusal);
	refusal_of_bpf(&refusal, err, why, why_size);
}

/*
 * -EMFILE if the limit of open files is too low for the maps, programs, links, rings and samplers.
 * Checked here because libbpf would not report it: if a map of constants cannot be created, it
 * assumes that the kernel does not know such maps.
 */
static int check_file_limit(const struct bpf_session *s)
{
	struct rlimit limit;
	struct bpf_program *prog;
	struct bpf_map *map;
	rlim_t n = s->sample_hz ? 2 * s->cpus : s->cpus;

	bpf_object__for_each_map(map, s->skel->obj) n++;
	bpf_object__for_each_program (prog, s->skel->obj)
		n += 2;
	n += 2 * s->n_probes;
	return !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < n ? -EMFILE : 0;
}

/*
 * Makes the map of all variables that begin with 0, the tables among them. libbpf would write the
 * zeros that the kernel has put there already, of which each page costs a page fault. Nothing may
 * be written to skel->bss before. size: of those that the programs use, bytes.
 */
static int make_variables(struct bpf_map *map, size_t size)
{
	struct bpf_map_create_opts opts = { .sz = sizeof(opts), .map_flags = BPF_F_MMAPABLE };
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "variables", sizeof(__u32), (__u32)size, 1, &opts);
	if (fd < 0)
		return fd;
	err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

/* Without it, if the kernel does not run the program, stacks are walked that need not be. */
static void find_stack_size(const struct bpf_session *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.find_stack_size), &run);
}

/* Makes a session and loads these programs; *out in any case but -ENOMEM. */
static int load_session(struct bpf_session **out, const struct bpf_options *options, bool requests,
			enum bpf_programs programs)
{
	struct bpf_session *s = *out = calloc(1, sizeof(*s));
	int cpus = libbpf_num_possible_cpus(), err;
	struct bpf_options own = *options, *o = &own;

	if (!s)
		return -ENOMEM;
	bpf_older_options(o, programs);
	s->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	s->programs = programs;
	s->skel = bpf_older_open(programs);
	if (!s->skel)
		return -errno;
	s->max_stack = read_max_stack();
	s->skel->rodata->max_stack = s->max_stack;
	s->skel->rodata->self_tgid = host_proc_own_id();
	s->skel->rodata->kernel_stacks = o->kernel_stacks;
	s->skel->rodata->user_stacks = o->user_stacks;
	s->skel->rodata->verify = o->verify;
	s->sample_hz = o->sample_hz;
	bpf_program__set_autoload(s->skel->progs.on_sample, o->sample_hz > 0);
	s->skel->rodata->find_objects = o->objects;
	load_disk_programs(s->skel, o->disk_requests);
	bpf_session_load_requests(s->skel, o->requests && requests, o->routes);
	bpf_session_limit_sockets(s->skel, o->memory);
	bpf_session_load_probes(s, o);
	bpf_session_load_contexts(s->skel, o->contexts);
	bpf_session_load_code(s->skel, o->user_stacks ? o->code : 0);
	load_interrupt_programs(s->skel, o->interrupts);
	bpf_session_load_light(s->skel, o->light_ns);
	memcpy((void *)s->skel->rodata->calls, calls_of_64, sizeof(calls_of_64));
	memcpy((void *)s->skel->rodata->calls_32, calls_of_32, sizeof(calls_of_32));
	configure_for_kernel(s->skel, o);
	bpf_older_load(s->skel, programs);
	bpf_map__set_max_entries(s->skel->maps.rings, s->cpus);
	err = bpf_session_find_online(s);
	if (err)
		return err;
	bpf_session_size_edges(s, o->buffer_size);
	err = check_file_limit(s);
	if (!err)
		err = make_variables(s->skel->maps.bss, bpf_older_variables(s->skel, programs));
	s->finds_requests = s->skel->rodata->find_requests;
	if (!err)
		err = chaincap_bpf__load(s->skel);
	if (!err && programs == BPF_PLAIN)
		err = bpf_older_fill(s->skel);
	else if (!err)
		find_stack_size(s);
	return err;
}

int bpf_session_open(struct bpf_session **out, const struct bpf_options *o, char *why,
		     size_t why_size)
{
	enum bpf_programs programs;
	struct bpf_session *s;
	int err, refused = 0;
	char missing[40];

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(o->verbose ? print_verbose : NULL);
	err = load_session(&s, o, true, BPF_FIRST);
	/* Some kernels refuse programs of certain types with EPERM, whoever loads them. */
	if (err && s && s->finds_requests && err != -EMFILE &&
	    !(err == -EPERM && caps_missing(missing, sizeof(missing)))) {
		refused = err;
		bpf_session_close(s);
		err = load_session(&s, o, false, BPF_FIRST);
	}
	for (programs = BPF_FIRST; err && s && programs < BPF_PLAIN && bpf_older_may_load(err);) {
		programs++;
		bpf_session_close(s);
		if (programs == BPF_PLAIN && o->n_probes) {
			snprintf(why, why_size,
				 "this kernel refuses the BPF programs that --request takes (%s): "
				 "Linux 5.15 takes them",
				 strerror(-err));
			return err;
		}
		err = load_session(&s, o, false, programs);
	}
	if (!s)
		return -ENOMEM;
	if (refused && !err && s->programs == BPF_USUAL)
		fprintf(stderr,
			"chaincap: requests are not recorded: the kernel refused the BPF programs "
			"for them (%s)\n",
			strerror(-refused));
	if (!err)
		err = bpf_session_make_rings(s, o->buffer_size);
	if (!err && bpf_session_find_pages(s)) {
		snprintf(why, why_size,
			 "--light: the memory of sleeping threads cannot be read on this kernel: "
			 "it takes x86-64 with page tables of four levels, Linux 6.1");
		bpf_session_close(s);
		return -EOPNOTSUPP;
	}
	if (!err)
		err = bpf_session_map_edges(s);
	/* Before anything is attached that would record it. */
	if (!err && s->helper)
		bpf_session_helper(s, bpf_session_id(s, s->helper));
	if (!err)
		bpf_session_find_tables(s);
	if (!err)
		err = bpf_session_make_layouts(s);
	if (!err)
		err = slot_finder_new(&s->finder);
	if (err)
		goto fail;
	*out = s;
	return 0;
fail:
	explain(err, why, why_size);
	bpf_session_close(s);
	return err;
}

void bpf_session_close(struct bpf_session *s)
{
	if (!s)
		return;
	if (s->has_detacher)
		pthread_join(s->detacher, NULL);
	sampler_close(s->sampler);
	bpf_session_free_rings(s);
	bpf_session_free_edges(s);
	slot_finder_free(s->finder);
	bpf_session_free_layouts(s);
	bpf_session_detach_probes(s);
	chaincap_bpf__destroy(s->skel);
	free(s->paused);
	free(s);
}

void bpf_session_helper(struct bpf_session *s, uint32_t id)
{
	volatile __u32 *helpers = s->skel->bss->helpers;
	__u32 place = wire_helper_place(id);

	if (id && helpers[place] != id && helpers[place ^ 1] != id)
		helpers[helpers[place] ? place ^ 1 : place] = id;
}

void bpf_session_command(struct bpf_session *s, pid_t pid)
{
	s->skel->bss->command = s->skel->bss->waiting_command = bpf_session_id(s, pid);
}

int bpf_session_attach(struct bpf_session *s, char *why, size_t why_size)
{
	int err = chaincap_bpf__attach(s->skel);

	if (!err)
		bpf_session_attach_requests(s);
	if (err)
		explain(err, why, why_size);
	else
		err = bpf_session_attach_probes(s, why, why_size);
	if (err)
		return err;
	if (s->sample_hz)
		s->sampling = sampler_open(&s->sampler, bpf_program__fd(s->skel->progs.on_sample),
					   s->cpus, s->sample_hz, s->programs == BPF_PLAIN);
	if (s->sampling) {
		sampler_close(s->sampler);
		s->sampler = NULL;
	}
	return 0;
}

int bpf_session_sampling(const struct bpf_session *s)
{
	return s->sampling;
}

void bpf_session_poll(struct bpf_session *s)
{
	if (s->sampler)
		sampler_poll(s->sampler);
	bpf_session_count_sockets(s);
}

/* Waits until at_ns, which has just been set. Returns it; or the present, if that is later. */
static uint64_t await_moment(uint64_t at_ns)
{
	uint64_t set_ns = clock_now_ns();

	while (clock_now_ns() < at_ns)
		;
	return set_ns > at_ns ? set_ns : at_ns;
}

uint64_t bpf_session_skipped_runs(const struct bpf_session *s)
{
	struct bpf_program *prog;
	uint64_t n = 0;

	bpf_object__for_each_program (prog, s->skel->obj) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (prog != s->skel->progs.on_data && prog != s->skel->progs.on_state &&
		    prog != s->skel->progs.on_probe &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			n += info.recursion_misses;
	}
	return n;
}

static void set_end(struct chaincap_bpf__data *data, uint64_t begin_ns, uint64_t duration_ns)
{
	if (duration_ns && begin_ns + duration_ns > begin_ns)
		data->record_until_ns = begin_ns + duration_ns;
}

uint64_t bpf_session_begin(struct bpf_session *s, uint64_t duration_ns)
{
	struct chaincap_bpf__data *data = s->skel->data;
	uint64_t at_ns;

	s->skipped_before = bpf_session_skipped_runs(s);
	at_ns = clock_now_ns() + BPF_SESSION_AHEAD_NS;
	set_end(data, at_ns, duration_ns);
	data->record_from_ns = at_ns;
	at_ns = await_moment(at_ns);
	set_end(data, at_ns, duration_ns); /* later, if this thread was kept from its CPU */
	return at_ns;
}

static uint64_t skipped_so_far(const struct bpf_session *s)
{
	return s->is_paused ? s->skipped_at_pause : bpf_session_skipped_runs(s);
}

uint64_t bpf_session_end(struct bpf_session *s)
{
	uint64_t at_ns = s->skel->data->record_until_ns;

	if (at_ns > clock_now_ns()) {
		at_ns = clock_now_ns() + BPF_SESSION_AHEAD_NS;
		s->skel->data->record_until_ns = at_ns;
		at_ns = await_moment(at_ns);
	}
	s->skipped_at_end = skipped_so_far(s);
	s->ended = true;
	if (!s->is_paused)
		bpf_session_end_requests(s);
	return at_ns;
}

static void *detach(void *session)
{
	struct bpf_session *s = session;

	chaincap_bpf__detach(s->skel);
	bpf_session_detach_probes(s);
	sampler_close(s->sampler);
	s->sampler = NULL;
	return NULL;
}

void bpf_session_detach(struct bpf_session *s)
{
	if (s->detached)
		return;
	s->detached = true;
	s->has_detacher = s->ended && !pthread_create(&s->detacher, NULL, detach, s);
	if (!s->has_detacher)
		detach(s);
}

/* Reads each kind's state on each CPU: kind by kind, to be freed. */
static int read_kinds(struct bpf_session *s, struct wire_kind_state **out)
{
	struct wire_kind_state *k = calloc((size_t)WIRE_COUNTED_KINDS * s->cpus, sizeof(*k));
	int err = k ? 0 : -ENOMEM;

	for (__u32 kind = 0; !err && kind < WIRE_COUNTED_KINDS; kind++)
		err = bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.kinds), &kind,
					  k + (size_t)kind * s->cpus);
	*out = k;
	return err;
}

static void add_counts(struct bpf_counts *c, const struct wire_kind_state *k, uint32_t kind)
{
	*(kind < WIRE_EVENT_KINDS ? &c->seen : &c->aux_seen) += k->seen;
	c->missed += k->nested;
	c->walked += k->walked;
	c->known += k->known;
	c->verified += k->verified;
	c->mismatches += k->mismatches;
	c->verified_user += k->verified_user;
	c->mismatches_user += k->mismatches_user;
	c->unverified_user += k->unverified_user;
	if (kind == WIRE_WAIT_STACKS) {
		c->slept_kernel += k->verified;
		c->slept_user += k->verified_user;
	}
	for (int i = 0; i < CHAINLOG_STACK_ENDS; i++)
		c->ends[i] += k->ends[i];
	c->known_user += k->known_user;
	c->no_room += k->no_room;
	c->programs_ns += k->cost_ns * WIRE_COST_EACH;
}

int bpf_session_counts(struct bpf_session *s, struct bpf_counts *out)
{
	struct wire_kind_state *k;
	int err = read_kinds(s, &k);

	*out = (struct bpf_counts) { 0 };
	for (uint32_t i = 0; !err && i < WIRE_COUNTED_KINDS * s->cpus; i++)
		add_counts(out, &k[i], i / s->cpus);
	free(k);
	bpf_session_count_edges(s, out);
	out->missed += (s->ended ? s->skipped_at_end : skipped_so_far(s)) - s->skipped_before;
	return err;
}

int bpf_session_pending(struct bpf_session *s, bpf_record_fn fn, void *ctx)
{
	struct wire_kind_state *k;
	int err = read_kinds(s, &k);

	for (uint32_t i = 0; !err && i < WIRE_COUNTED_KINDS * s->cpus; i++) {
		struct wire_lost l = {
			.r = { .time_ns = k[i].pending_first_ns, .kind = WIRE_LOST },
			.n = k[i].pending,
			.last_ns = k[i].pending_last_ns,
			.event = i / s->cpus,
		};

		l.r.cpu = i % s->cpus;
		if (l.n)
			err = fn(ctx, &l.r, sizeof(l));
	}
	free(k);
	return err;
}

enum bpf_programs bpf_session_programs(const struct bpf_session *s)
{
	return s->programs;
}

uint32_t bpf_session_cpus(const struct bpf_session *s)
{
	return s->cpus;
}

uint32_t bpf_session_max_stack(const struct bpf_session *s)
{
	return s->max_stack;
}

size_t bpf_session_buffer_size(const struct bpf_session *s)
{
	return s->ring_size;
}
