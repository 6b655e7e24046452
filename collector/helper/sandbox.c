// SPDX-License-Identifier: GPL-2.0-or-later
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_id.h"

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* ---- rights -------------------------------------------------------------------------------- */

/* False if any right is left. */
static bool drop_rights(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	uid_t id;

	if (!geteuid() && (own_id_find(&id) || setgroups(0, NULL) || setresgid(id, id, id) ||
			   setresuid(id, id, id)))
		return false;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(SYS_capset, &h, none);
}

static bool leave_behind(const char *name, int socket)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0) /* below a root directory without /dev */
		null = memfd_create("null", 0);
	/* What ends the recording ends its helpers only when it has their answers. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	prctl(PR_SET_NAME, name);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return false;
	return dup2(socket, SANDBOX_SOCKET) >= 0 &&
	       !syscall(SYS_close_range, SANDBOX_SOCKET + 1u, ~0u, 0u);
}

bool sandbox_enter(const char *name, int socket, bool keeps_rights)
{
	/* Changing the user resets the last one. */
	return leave_behind(name, socket) && (keeps_rights || drop_rights()) &&
	       !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* ---- system calls -------------------------------------------------------------------------- */

#define ALLOW(call)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Only where the argument (its lower half) has none of these bits. */
#define ALLOW_WITHOUT(call, argument, bits)                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), LOAD(args[argument]), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),                    \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),                \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define NEW_NAMESPACES                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

/* How many instructions below are for may_fork. */
#define TO_FORK (5u + 2u * 9u)

bool sandbox_is_real(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return false;
#else
	return true;
#endif
}

bool sandbox_seal(bool may_fork)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		/* descriptors that it has */
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(lseek),
		ALLOW(fstat),
		ALLOW(newfstatat), /* glibc's fstat() */
		ALLOW(fcntl),
		ALLOW(close),
		ALLOW(recvmsg),
		ALLOW(sendmsg),
		/* memory */
		ALLOW_WITHOUT(mmap, 2, PROT_EXEC), /* nor has it mprotect(2) */
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(brk),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(ppoll), /* to wait for a time */
		/* itself */
		ALLOW(getpid),
		ALLOW(sysinfo), /* glibc's qsort() */
		ALLOW(getrandom),
		ALLOW(clock_gettime),
		ALLOW(rt_sigreturn),
		ALLOW(restart_syscall),
		ALLOW(exit_group),
		/* others, if may_fork */
		BPF_STMT(BPF_JMP | BPF_JA, may_fork ? 0 : TO_FORK),
		ALLOW_WITHOUT(clone, 0, NEW_NAMESPACES),
		ALLOW(openat), /* what its children take is in /proc */
		ALLOW(kill),
		ALLOW(wait4),
		ALLOW(rt_sigprocmask),
		ALLOW(seccomp),
		ALLOW(prctl),
		ALLOW(prlimit64),
		ALLOW(set_robust_list),
		ALLOW(sched_setscheduler),
		/* C libraries try this and that, and live with an error. */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return !sandbox_is_real() || !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void sandbox_limit(uint64_t bytes, unsigned int cpu_seconds)
{
	struct rlimit memory = { bytes, bytes }, cpu = { cpu_seconds, cpu_seconds };
	struct rlimit none = { 0, 0 };

	/* The sanitizers reserve terabytes. */
	if (sandbox_is_real())
		setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
}

/* ---- messages ------------------------------------------------------------------------------ */

ssize_t sandbox_send(int socket, const void *message, size_t len, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec data = { (void *)(uintptr_t)message, len };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr) {
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	n = sendmsg(socket, &m, MSG_NOSIGNAL);
	return n < 0 ? -errno : n;
}

ssize_t sandbox_receive(int socket, void *message, size_t size, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	/* cppcheck-suppress ctuuninitvar ; it is what is received into */
	struct iovec data = { message, size };
	struct msghdr m = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}
