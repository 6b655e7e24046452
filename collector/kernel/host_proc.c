// SPDX-License-Identifier: GPL-2.0-or-later
#include "host_proc.h"

#include <bpf/bpf.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h: the same on every machine. */
#define INITIAL_NAMESPACE 0xeffffffcu
/* The kernel's include/linux/sched.h. */
#define PF_KTHREAD 0x00200000u
#define KTHREADD 2

static struct {
	bool is_here, has_own_ids;
	char dir[HOST_PROC_NAME_MAX / 2]; /* "": it is not mounted */
	uint32_t own_id;
} host = { .is_here = true, .has_own_ids = true, .dir = "/proc" };

/* ---- which /proc is the host's --------------------------------------------------------------- */

/* The flags of process 2: no program can give itself that of kernel threads. */
static bool has_kernel_threads(const char *dir)
{
	char name[HOST_PROC_NAME_MAX], stat[512];
	unsigned int flags = 0;
	const char *p;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%d/stat", dir, KTHREADD);
	f = fopen(name, "re");
	if (!f)
		return false;
	stat[fread(stat, 1, sizeof(stat) - 1, f)] = '\0';
	fclose(f);
	p = strrchr(stat, ')');
	/* state ppid pgrp session tty_nr tpgid flags: proc_pid_stat(5) */
	if (p && sscanf(p, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	return flags & PF_KTHREAD;
}

/* Kernel threads are in the initial PID namespace only. */
static bool is_of_host(const char *dir)
{
	struct statfs fs;

	return strlen(dir) < sizeof(host.dir) && !statfs(dir, &fs) &&
	       fs.f_type == PROC_SUPER_MAGIC && has_kernel_threads(dir);
}

/* Among all file systems that are mounted here. */
static bool find_mounted(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], root[PATH_MAX], at[PATH_MAX];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		/* id parent major:minor root mount-point ... - type source: proc_pid_mountinfo(5)
		 */
		if (!type || strncmp(type, " - proc ", 8) ||
		    sscanf(line, "%*d %*d %*s %4095s %4095s", root, at) != 2 || strcmp(root, "/"))
			continue;
		found = is_of_host(at);
		if (found)
			memcpy(host.dir, at, strlen(at) + 1); /* is_of_host() compares the length */
	}
	if (f)
		fclose(f);
	return found;
}

/* The ids of a process from the namespace of /proc down to its own: there is but one. */
static bool has_own_ids(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned int first, second;
	char line[256];
	int n = 0;

	while (f && !n && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			n = sscanf(line, "NSpid: %u %u", &first, &second);
	if (f)
		fclose(f);
	return n == 1;
}

/* ---- the recorder's own id ------------------------------------------------------------------- */

/* The kernel runs a program of two instructions here, which returns its thread's id. */
static uint32_t ask_kernel(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "own_id", "GPL", insns, 2, NULL);
	struct bpf_test_run_opts run = { .sz = sizeof(run) };
	uint32_t id;

	if (fd < 0)
		return 0;
	/* The lower half; the first thread has the process's id. */
	id = bpf_prog_test_run_opts(fd, &run) ? 0 : run.retval;
	close(fd);
	return id;
}

static uint32_t find_own_id(void)
{
	char name[HOST_PROC_NAME_MAX], self[32];
	ssize_t n;

	if (host.is_here)
		return (uint32_t)getpid();
	if (!host.dir[0])
		return ask_kernel();
	snprintf(name, sizeof(name), "%s/self", host.dir);
	n = readlink(name, self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	return (uint32_t)strtoul(self, NULL, 10);
}

/* ---- interface ------------------------------------------------------------------------------- */

void host_proc_find(void)
{
	struct stat st;

	/* Another namespace's /proc would not have a process of the initial one. */
	host.is_here = !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_NAMESPACE;
	host.has_own_ids = host.is_here || has_own_ids();
	if (host.is_here || is_of_host("/proc"))
		strcpy(host.dir, "/proc");
	else if (is_of_host("/host/proc"))
		strcpy(host.dir, "/host/proc");
	else if (!find_mounted())
		host.dir[0] = '\0';
	host.own_id = find_own_id();
}

bool host_proc_is_here(void)
{
	return host.is_here;
}

bool host_proc_has_own_ids(void)
{
	return host.has_own_ids;
}

const char *host_proc_dir(void)
{
	return host.dir[0] ? host.dir : NULL;
}

uint32_t host_proc_own_id(void)
{
	return host.own_id ? host.own_id : host.is_here ? (uint32_t)getpid() : 0;
}

struct host_proc_name host_proc_name(uint32_t tgid, const char *file)
{
	struct host_proc_name name = { "" };
	int n = 0;

	if (host.dir[0])
		n = snprintf(name.text, sizeof(name.text), "%s/%u/%s", host.dir, tgid, file);
	if (n >= (int)sizeof(name.text))
		name.text[0] = '\0';
	return name;
}

bool host_proc_lives(uint32_t tgid)
{
	return !access(host_proc_name(tgid, "").text, F_OK);
}
