// SPDX-License-Identifier: GPL-2.0-or-later
#include "caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 5.8 and 5.9: installed headers may be older. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(capability) (UINT64_C(1) << (capability))

/*
 * CAP_BPF: map updates before 5.19, where kernel.unprivileged_bpf_disabled covers them; without
 * CAP_PERFMON it cannot load a tracing program. The rest is for names: /proc/PID of other users'
 * processes (SYS_PTRACE), mapped files without a name (CHECKPOINT_RESTORE), files readable by
 * others only (DAC_READ_SEARCH), kallsyms again for new modules (SYSLOG), leaving SCHED_IDLE
 * (SYS_NICE).
 */
#define KEPT                                                                \
	(BIT(CAP_BPF) | BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | \
	 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYSLOG) | BIT(CAP_SYS_NICE))

/* Those of them that are needed to open files, and files in /proc. */
#define OPEN (BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_DAC_READ_SEARCH))

/* KILL: those that have become another user are ended. */
#define BECOME                                                                           \
	(BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SYS_CHROOT) | BIT(CAP_SYS_PTRACE) | \
	 BIT(CAP_KILL))

/* Creating files in the directory of the user who called sudo, owned by that user. */
#define CREATE (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_CHOWN) | BIT(CAP_FOWNER))

struct sets {
	struct __user_cap_data_struct part[_LINUX_CAPABILITY_U32S_3];
};

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct) { .version = _LINUX_CAPABILITY_VERSION_3 };
}

static int get_sets(struct sets *s)
{
	struct __user_cap_header_struct h = header();

	return syscall(SYS_capget, &h, s->part) ? -errno : 0;
}

bool caps_have(int capability)
{
	struct sets s;

	return !get_sets(&s) && s.part[capability / 32].effective >> capability % 32 & 1;
}

/* CAP_SYS_ADMIN includes all of these, for compatibility. */
bool caps_missing(char *out, size_t out_size)
{
	bool bpf = caps_have(CAP_BPF), perfmon = caps_have(CAP_PERFMON);

	if (caps_have(CAP_SYS_ADMIN) || (bpf && perfmon))
		return false;
	snprintf(out, out_size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : ", ",
		 perfmon ? "" : "CAP_PERFMON");
	return true;
}

/* Reduces both sets to these, then makes effective the permitted ones in raised. */
static int keep(uint64_t permitted, uint64_t effective, uint64_t raised)
{
	struct __user_cap_header_struct h = header();
	struct sets s;
	int err = get_sets(&s);

	if (err)
		return err;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		s.part[i].permitted &= (uint32_t)(permitted >> 32 * i);
		s.part[i].effective &= (uint32_t)(effective >> 32 * i);
		s.part[i].effective |= s.part[i].permitted & (uint32_t)(raised >> 32 * i);
		s.part[i].inheritable = 0;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &h, s.part))
		return -errno;
	return 0;
}

int caps_drop(void)
{
	return keep(KEPT, KEPT, 0);
}

int caps_drop_but_create(void)
{
	return keep(KEPT | CREATE, KEPT, 0);
}

int caps_create(void)
{
	return keep(KEPT | CREATE, KEPT, CREATE);
}

int caps_drop_to_open(void)
{
	return keep(OPEN, OPEN, 0);
}

int caps_drop_to_become(void)
{
	return keep(BECOME, BECOME, 0);
}

int caps_drop_all(void)
{
	return keep(0, 0, 0);
}
