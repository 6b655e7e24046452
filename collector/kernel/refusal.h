/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refusal.h - why the kernel refuses the recorder what it needs, and what helps: one line, for
 * whoever runs it. Looks up what may forbid it: capabilities, the user namespace, seccomp, SELinux,
 * lockdown, sysctl kernel.perf_event_paranoid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct refusal {
	char missing[40];  /* of CAP_BPF and CAP_PERFMON: "CAP_BPF, CAP_PERFMON"; "": none */
	bool is_root;	   /* by its user id, as in a container */
	bool has_sys;	   /* /sys is mounted */
	bool has_btf;	   /* /sys/kernel/btf/vmlinux can be read */
	bool in_user_ns;   /* in another user namespace than the initial one: rootless */
	bool is_filtered;  /* a seccomp filter is in force */
	bool is_selinux;   /* SELinux is in enforcing mode */
	bool is_apparmor;  /* a profile of AppArmor is in force */
	char lockdown[24]; /* "none", "integrity" or "confidentiality"; "": no lockdown here */
	int paranoid;	   /* sysctl kernel.perf_event_paranoid; -1: not known, or no limit */
	int plain;	   /* 0, or the negative errno of the plainest map and program */
};

/* Looks all of it up. */
void refusal_look(struct refusal *out);

/*
 * Writes to why for what reason loading or attaching BPF programs failed with err, a negative
 * errno.
 */
void refusal_of_bpf(const struct refusal *r, int err, char *why, size_t why_size);

/*
 * What helps after perf_event_open(2) failed with err, a negative errno: static text, or "" if that
 * is not known.
 */
const char *refusal_of_perf(const struct refusal *r, int err);
