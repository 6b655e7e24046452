// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recording will lack, as is said when it begins, and what helps; and what it left out. */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "elf/debugfile.h"
#include "kernel/caps.h"
#include "kernel/host_proc.h"
#include "kernel/refusal.h"
#include "session_private.h"

void session_say_perf(const char *lacking, int err)
{
	struct refusal refusal;
	const char *cure;

	refusal_look(&refusal);
	cure = err == -EINVAL ? "see sysctl kernel.perf_event_max_sample_rate"
			      : refusal_of_perf(&refusal, err);
	fprintf(stderr, "chaincap: %s: perf_event_open: %s%s%s%s\n", lacking, strerror(-err),
		*cure ? " (" : "", cure, *cure ? ")" : "");
}

static void warn_about_namespace(const struct session *s)
{
	const char *dir = host_proc_dir();

	if (session_reads_files(s->options) && dir)
		fprintf(stderr,
			"chaincap: in a PID namespace of its own: user functions are named by the "
			"host's /proc (%s), but not in processes that end at once\n",
			dir);
	else if (session_reads_files(s->options))
		fputs("chaincap: user functions will have no names: this is a PID namespace of its "
		      "own, without the host's /proc: docker run --pid=host (hostPID: true), or -v "
		      "/proc:/host/proc:ro\n",
		      stderr);
	if (!bpf_session_lists_all(s->bpf))
		fputs("chaincap: threads outside of this PID namespace lack what they did before: "
		      "needs the host's PID namespace, or Linux 6.2\n",
		      stderr);
}

const char *session_lacks(const struct session *s)
{
	enum bpf_programs programs = bpf_session_programs(s->bpf);

	if (programs == BPF_USUAL)
		return NULL;
	return programs == BPF_OLDER ? SESSION_OLDER_LACKS : SESSION_PLAIN_LACKS;
}

void session_leave_out(struct session *s)
{
	struct options *o = &s->own;
	const char *lacks = session_lacks(s);

	if (!lacks)
		return;
	*o = *s->options;
	o->no_requests = true;
	o->verify = false;
	if (bpf_session_programs(s->bpf) == BPF_PLAIN) {
		o->no_objects = o->no_block = true;
		o->no_python = o->no_php = o->no_ruby = o->no_node = o->no_java = true;
		o->context = false;
	}
	s->options = o;
	fprintf(stderr,
		"chaincap: this kernel refuses the usual BPF programs, which Linux 6.1 takes: %s\n",
		lacks);
}

void session_say_lacking(const struct session *s)
{
	int kernel, sideband;

	symbolizer_status(s->sym, &kernel, &sideband);
	if (kernel && s->options->kernel_stacks)
		fprintf(stderr,
			"chaincap: kernel functions will have no names, and interrupts will look "
			"like threads: /proc/kallsyms: %s (%s)\n",
			strerror(-kernel),
			caps_have(CAP_SYSLOG) ? "see sysctl kernel.kptr_restrict"
					      : "CAP_SYSLOG is missing");
	if (bpf_session_max_stack(s->bpf) < WIRE_STACK_MAX && s->options->kernel_stacks)
		fprintf(stderr,
			"chaincap: kernel stacks are cut after %u frames (sysctl "
			"kernel.perf_event_max_stack; the default is 127)\n",
			bpf_session_max_stack(s->bpf));
	if (sideband && s->options->user_stacks)
		session_say_perf(
			"processes that start and end during the recording will lack names",
			sideband);
	if (s->options->user_stacks && !caps_have(CAP_SYS_PTRACE))
		fputs("chaincap: functions of other users' processes will have no names: "
		      "CAP_SYS_PTRACE is missing\n",
		      stderr);
	if (!host_proc_is_here())
		warn_about_namespace(s);
	if (s->options->verify)
		fputs("chaincap: --verify: the recorder itself reads the files of recorded "
		      "programs, as root: not where these are not to be trusted\n",
		      stderr);
	if (s->options->verbose && s->options->user_stacks && !minidebug_is_supported())
		fputs("chaincap: built without liblzma: names in .gnu_debugdata are not read\n",
		      stderr);
}

static void add_cut(void *symbolizer, uint32_t tgid, uint32_t stacks)
{
	symbolizer_cut_stacks(symbolizer, tgid, stacks);
}

void session_tell_cut(struct session *s)
{
	symbolizer_forget_cut(s->sym);
	bpf_session_take_cut(s->bpf, add_cut, s->sym);
}

void session_left_out(const struct session *s, uint64_t n[CHAINLOG_LEFT_OUTS])
{
	struct sink_counts counts;
	struct bpf_counts c;

	s->sink->counts(s, &counts);
	bpf_session_left_out(s->bpf, n);
	n[CHAINLOG_LEFT_CODE] += counts.unknown_code;
	n[CHAINLOG_LEFT_ROUTES] += counts.unknown_routes;
	process_parts_left_out(s->parts, n);
	n[CHAINLOG_LEFT_STACKS] += user_stacks_cut(s->user_stacks);
	if (!bpf_session_counts(s->bpf, &c))
		n[CHAINLOG_LEFT_STACKS] += c.no_room;
}
