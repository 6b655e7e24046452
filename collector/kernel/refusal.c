// SPDX-License-Identifier: GPL-2.0-or-later
#include "refusal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caps.h"

/* Since Linux 5.8: installed headers may be older. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* The oldest kernel that is tested. */
#define OLDEST "5.10"

/* PROC_USER_INIT_INO in the kernel's include/linux/proc_ns.h: the same on every machine. */
#define INITIAL_USER_NAMESPACE 0xeffffffdu

#define UNCONFINED                                                          \
	"docker run --security-opt seccomp=unconfined, or in Kubernetes's " \
	"securityContext seccompProfile: {type: Unconfined}"
#define SPC \
	"docker run --security-opt label=disable, or in Kubernetes seLinuxOptions: {type: spc_t}"

/* ---- what may forbid it ---------------------------------------------------------------------- */

/* The first line of a file; "" without one. */
static void read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* "none [integrity] confidentiality": that in brackets holds. */
static void read_lockdown(char *out, size_t out_size)
{
	char line[80], *from, *end;

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	from = strchr(line, '[');
	end = from ? strchr(from, ']') : NULL;
	if (end)
		*end = '\0';
	snprintf(out, out_size, "%s", end ? from + 1 : "");
}

/* Of a map and of a program that every kernel takes. */
static int try_plain(void)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "plain", 4, 4, 1, NULL), prog, err;

	if (map < 0)
		return map;
	close(map);
	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "plain", "GPL", nothing, 2, NULL);
	err = prog < 0 ? prog : 0;
	if (prog >= 0)
		close(prog);
	return err;
}

void refusal_look(struct refusal *out)
{
	char line[80];
	struct stat st;

	*out = (struct refusal) { .plain = try_plain(), .paranoid = -1 };
	caps_missing(out->missing, sizeof(out->missing));
	out->is_root = !geteuid();
	out->has_sys = !access("/sys/kernel", F_OK);
	out->has_btf = !access("/sys/kernel/btf/vmlinux", R_OK);
	out->in_user_ns = !stat("/proc/self/ns/user", &st) && st.st_ino != INITIAL_USER_NAMESPACE;
	out->is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
	read_line("/sys/fs/selinux/enforce", line, sizeof(line));
	out->is_selinux = line[0] == '1';
	read_line("/proc/self/attr/apparmor/current", line, sizeof(line));
	out->is_apparmor = line[0] && strcmp(line, "unconfined");
	read_lockdown(out->lockdown, sizeof(out->lockdown));
	read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	if (line[0])
		out->paranoid = atoi(line);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* Whether this lockdown keeps BPF programs and perf from the kernel's memory. */
static bool is_locked(const struct refusal *r)
{
	return !strcmp(r->lockdown, "confidentiality");
}

/* Why not even the plainest program is taken; NULL: not known. */
static const char *reason_of_all(const struct refusal *r)
{
	if (r->in_user_ns)
		return "root of a user namespace, as in a rootless container, has no rights to "
		       "record: run it as the machine's root";
	if (r->is_filtered && r->plain != -EACCES)
		return "a seccomp filter forbids bpf(2): " UNCONFINED;
	if (r->is_selinux)
		return "SELinux forbids bpf(2) here (ausearch -m avc -c chaincap): " SPC;
	if (r->is_apparmor)
		return "a security module forbids bpf(2) here: docker run --security-opt "
		       "apparmor=unconfined, or in Kubernetes appArmorProfile: {type: Unconfined}";
	return NULL;
}

void refusal_of_bpf(const struct refusal *r, int err, char *why, size_t why_size)
{
	const char *all = is_refusal(r->plain) || r->plain == -ENOSYS ? reason_of_all(r) : NULL;

	if (!r->has_sys)
		snprintf(why, why_size,
			 "/sys is not mounted here: /sys/kernel/btf/vmlinux is needed, which says "
			 "where the kernel has what");
	else if (!r->has_btf)
		snprintf(why, why_size,
			 "this kernel has no BTF (/sys/kernel/btf/vmlinux): a kernel with "
			 "CONFIG_DEBUG_INFO_BTF=y is needed, as distributions have since 2020");
	else if (is_refusal(err) && r->missing[0] && r->is_root)
		snprintf(why, why_size,
			 "root has not all rights here (missing: %s): docker run "
			 "--cap-add=BPF --cap-add=PERFMON, or in Kubernetes's securityContext "
			 "capabilities: {add: [BPF, PERFMON]}",
			 r->missing);
	else if (is_refusal(err) && r->missing[0])
		snprintf(why, why_size,
			 "needs root: sudo chaincap ..., or CAP_BPF and CAP_PERFMON (missing: %s)",
			 r->missing);
	else if (all)
		snprintf(why, why_size, "%s", all);
	else if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		snprintf(why, why_size, "cannot load the BPF programs: %s%s", strerror(-err),
			 err == -EMFILE ? " (ulimit -n)" : "");
	else if (is_locked(r))
		snprintf(why, why_size,
			 "this kernel is locked down (/sys/kernel/security/lockdown: "
			 "confidentiality): BPF programs may not read its memory; boot it with "
			 "lockdown=integrity, which is enough for secure boot");
	else
		snprintf(why, why_size,
			 "the kernel refused the BPF programs (%s): Linux " OLDEST
			 " or newer is needed%s; -v shows its messages",
			 strerror(-err),
			 err == -EPERM
				 ? ", before 5.11 with CAP_SYS_RESOURCE or ulimit -l unlimited"
				 : "");
}

const char *refusal_of_perf(const struct refusal *r, int err)
{
	if (!is_refusal(err) && err != -ENOSYS)
		return "";
	if (strstr(r->missing, "CAP_PERFMON"))
		return "CAP_PERFMON is missing";
	if (r->in_user_ns)
		return "not permitted in a user namespace";
	if (is_locked(r))
		return "the kernel is locked down: boot it with lockdown=integrity";
	/* The kernel itself answers EACCES. */
	if (r->is_filtered && err != -EACCES)
		return "a seccomp filter forbids it: " UNCONFINED;
	/* From 3 on Debian's and Ubuntu's kernels permit it only to who has more rights. */
	if (r->paranoid > 2)
		return "sysctl kernel.perf_event_paranoid=2 permits it";
	if (r->is_selinux)
		return "SELinux forbids it: " SPC;
	return "";
}
