// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is said when the kernel refuses the recorder: the cause, among several that look alike, and
 * what helps. Machines with SELinux, lockdown and the like are described here; what is looked up
 * on this one has to be what it has. container.sh tries what can be tried.
 */

#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/refusal.h"

/* A machine where nothing is forbidden. */
static struct refusal free_machine(void)
{
	return (struct refusal) { .has_sys = true, .has_btf = true, .paranoid = 2 };
}

static void says(const struct refusal *r, int err, const char *expected)
{
	char why[512];

	refusal_of_bpf(r, err, why, sizeof(why));
	if (!strstr(why, expected))
		fail_msg("expected: ...%s...\ngot:      %s", expected, why);
	assert_null(strchr(why, '\n'));
	/* Nothing else is blamed as well. */
	for (const char **other =
		     (const char *[]) { "seccomp", "SELinux", "locked down", "rootless",
					"missing:", "security module", "BTF", NULL };
	     *other; other++)
		if (!strstr(expected, *other) && strstr(why, *other))
			fail_msg("expected: ...%s...\ngot:      %s", expected, why);
}

static void perf_says(const struct refusal *r, int err, const char *expected)
{
	assert_non_null(strstr(refusal_of_perf(r, err), expected));
}

TEST(what_is_missing_is_named)
{
	struct refusal r = free_machine();

	strcpy(r.missing, "CAP_PERFMON");
	r.plain = -EPERM;
	says(&r, -EPERM, "(missing: CAP_PERFMON)");
	/* Also where more would be in the way later. */
	r.is_filtered = true;
	says(&r, -EPERM, "(missing: CAP_PERFMON)");
	perf_says(&r, -EACCES, "CAP_PERFMON is missing");
	r.is_root = true;
	says(&r, -EPERM, "(missing: CAP_PERFMON): docker run --cap-add");
}

TEST(containers)
{
	struct refusal r = free_machine();

	r.is_filtered = true;
	r.plain = -EPERM;
	says(&r, -EPERM,
	     "a seccomp filter forbids bpf(2): docker run --security-opt seccomp=unconfined");
	r.plain = -ENOSYS;
	says(&r, -ENOSYS, "a seccomp filter");
	/* A filter that lets bpf(2) pass is not the cause. */
	r.plain = 0;
	says(&r, -EPERM,
	     "Linux 5.10 or newer is needed, before 5.11 with CAP_SYS_RESOURCE or ulimit -l");
	r.plain = -EPERM;
	r.in_user_ns = true;
	says(&r, -EPERM, "a rootless container, has no rights");
	r = free_machine();
	r.has_btf = r.has_sys = false;
	says(&r, -ENOENT, "/sys is not mounted here: /sys/kernel/btf/vmlinux");
	r.has_sys = true;
	says(&r, -ENOENT, "this kernel has no BTF");
}

TEST(security_modules)
{
	struct refusal r = free_machine();

	/* Enforcing, but it permits bpf(2): programs are refused with EACCES for other reasons. */
	r.is_selinux = true;
	says(&r, -EACCES, "the kernel refused the BPF programs");
	r.plain = -EACCES;
	says(&r, -EACCES, "SELinux forbids bpf(2)");
	r.is_filtered = true; /* filters answer EPERM */
	says(&r, -EACCES, "SELinux forbids bpf(2)");
	perf_says(&r, -EACCES, "SELinux forbids it");
	r = free_machine();
	r.is_apparmor = true;
	r.plain = -EACCES;
	says(&r, -EACCES, "a security module forbids bpf(2)");
}

TEST(locked_kernels)
{
	struct refusal r = free_machine();

	/* As with secure boot: it forbids to write the kernel's memory, not to read it. */
	strcpy(r.lockdown, "integrity");
	says(&r, -EINVAL, "the kernel refused the BPF programs");
	strcpy(r.lockdown, "confidentiality");
	says(&r, -EINVAL, "locked down (/sys/kernel/security/lockdown: confidentiality)");
	says(&r, -EMFILE, "ulimit -n");
	perf_says(&r, -EPERM, "lockdown=integrity");
}

TEST(perf_is_permitted_by_a_sysctl)
{
	struct refusal r = free_machine();

	assert_string_equal(refusal_of_perf(&r, -EACCES), "");
	for (r.paranoid = 3; r.paranoid <= 4; r.paranoid++)
		perf_says(&r, -EACCES, "sysctl kernel.perf_event_paranoid=2");
	assert_string_equal(refusal_of_perf(&r, -EMFILE), "");
	r.paranoid = 2;
	r.is_filtered = true;
	perf_says(&r, -EPERM, "a seccomp filter");
}

/* The number or word in a file, as another reader has it. */
static void expect_file(const char *path, const char *format, void *out, int expected)
{
	FILE *f = fopen(path, "re");

	assert_int_equal(f ? fscanf(f, format, out) : 0, f ? expected : 0);
	if (f)
		fclose(f);
}

TEST(this_machine)
{
	int paranoid = -1, enforcing = 0, seccomp = 0;
	char status[8192] = "";
	struct refusal r;
	FILE *f = fopen("/proc/self/status", "re");
	const char *at;

	refusal_look(&r);
	expect_file("/proc/sys/kernel/perf_event_paranoid", "%d", &paranoid, 1);
	assert_int_equal(r.paranoid, paranoid);
	expect_file("/sys/fs/selinux/enforce", "%d", &enforcing, 1);
	assert_int_equal(r.is_selinux, enforcing);
	assert_int_equal(r.has_btf, !access("/sys/kernel/btf/vmlinux", R_OK));
	assert_non_null(f);
	status[fread(status, 1, sizeof(status) - 1, f)] = '\0';
	fclose(f);
	at = strstr(status, "\nSeccomp:");
	assert_true(!at || sscanf(at, "\nSeccomp: %d", &seccomp) == 1);
	assert_int_equal(r.is_filtered, seccomp == 2);
	if (!r.missing[0] && !r.in_user_ns && !r.is_filtered && !r.is_selinux && !r.is_apparmor)
		assert_int_equal(r.plain, 0);
}
