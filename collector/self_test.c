// SPDX-License-Identifier: GPL-2.0-or-later
#include "self_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/caps.h"
#include "session_test.h"

#define DURATION_NS UINT64_C(1000000000)
#define PAUSE_US 5000
/* Something to do for a request, some 0.5 ms: without it no sample may meet a running thread. */
#define STEPS 500000

/* ---- what is recorded ----------------------------------------------------------------------- */

/* A server and its client, over TCP: they sleep, wake each other, and ask and answer requests. */
static void serve(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char byte;

	while (fd >= 0 && recv(fd, &byte, 1, 0) == 1) {
		for (volatile int i = 0; i < STEPS; i++)
			;
		(void)send(fd, &byte, 1, MSG_NOSIGNAL);
	}
}

static void ask(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte = 0;

	if (connect(fd, (const struct sockaddr *)server, sizeof(*server)))
		return;
	while (send(fd, &byte, 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1)
		usleep(PAUSE_US);
}

/* Both end with this process. Returns the number of them. */
static unsigned int start_load(pid_t pids[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);
	unsigned int n = 0;

	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len))
		return 0;
	for (; n < 2; n++) {
		pids[n] = fork();
		if (pids[n] < 0)
			break;
		if (pids[n])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		if (n)
			ask(&at);
		else
			serve(listener);
		_exit(0);
	}
	close(listener);
	return n;
}

/* ---- what is said before --------------------------------------------------------------------- */

static void say_rights(void)
{
	static const struct {
		int capability;
		const char *name, *lack;
		bool of_root;
	} wanted[] = {
		{ CAP_SYSLOG, "CAP_SYSLOG", "names of kernel functions", false },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "names of other users' functions", false },
		{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "names in files others cannot read",
		  false },
		{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "names in deleted files",
		  false },
		{ CAP_SETUID, "CAP_SETUID", "names of user functions", true },
		{ CAP_SETGID, "CAP_SETGID", "names of user functions", true },
		{ CAP_SYS_NICE, "CAP_SYS_NICE", "priority on a busy machine", false },
	};
	char missing[128];
	bool all = true;

	if (caps_missing(missing, sizeof(missing)))
		session_test_say("rights", false, "missing: %s: %s", missing,
				 geteuid() ? "run it as root, or see setcap in docs/security.md"
					   : "docker run --cap-add, see docs/container.md");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (caps_have(wanted[i].capability) || (wanted[i].of_root && geteuid()))
			continue;
		all = false;
		session_test_say("rights", false, "without %s: no %s", wanted[i].name,
				 wanted[i].lack);
	}
	if (all)
		session_test_say("rights", true, "all that are of use");
}

static bool say_kernel(void)
{
	static const char btf[] = "/sys/kernel/btf/vmlinux";
	struct utsname u;

	uname(&u);
	printf("chaincap " CHAIN_VERSION ", Linux %s, %s\n", u.release, u.machine);
	if (access(btf, R_OK)) {
		session_test_say("BTF", false, "%s: %s: needs a kernel with CONFIG_DEBUG_INFO_BTF",
				 btf, strerror(errno));
		return false;
	}
	session_test_say("BTF", true, "%s", btf);
	return true;
}

/* ---- all together --------------------------------------------------------------------------- */

int self_test_run(const struct options *o, struct session_signals *signals)
{
	struct session_result result = { 0 };
	struct options test = *o;
	pid_t load[2];
	unsigned int n;
	int err;

	test.duration_ns = DURATION_NS;
	test.quiet = true;
	if (!say_kernel())
		return -ENOENT;
	say_rights();
	fflush(stdout);
	n = start_load(load);
	err = session_run(&test, "chaincap --self-test", signals, &result);
	for (unsigned int i = 0; i < n; i++)
		kill(load[i], SIGKILL);
	while (n)
		waitpid(load[--n], NULL, 0);
	if (err)
		session_test_say("events", false,
				 "nothing can be recorded: standard error says why");
	return err;
}
