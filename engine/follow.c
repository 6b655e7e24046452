// SPDX-License-Identifier: GPL-2.0-or-later
#include "follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "base/work_apart.h"
#include "common/clean_text.h"

#define EVERY "2s"    /* of --live */
#define KEEP "256M"   /* of its traces */
#define LOOKS_MS 500  /* how often the recorder is looked after */
#define SHOW_MS 60000 /* the most that one screen may take */

struct following {
	const struct options *options;
	int (*walk)(const struct options *o);
	char folder[PATH_MAX];
	char last[NAME_MAX + 1]; /* the newest trace */
	int trace;		 /* it, open; -1: none so far */
	int events;		 /* inotify */
	bool paused, keys;
	struct termios terminal; /* as it was, if there are keys */
	pid_t recorder;		 /* 0: none was started */
};

static volatile sig_atomic_t ended;

static void on_end(int sig)
{
	(void)sig;
	ended = 1;
}

static int failed(const char *what, int err)
{
	fprintf(print_about(stderr, what), "%s\n", strerror(err));
	return 1;
}

/* ---- the recorder of --live ------------------------------------------------------------------ */

/* The recorder beside this program, else the one on PATH. */
static void run_recorder(const char *folder)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("chaincap"));
	char *name;

	path[len < 0 ? 0 : len] = 0;
	name = strrchr(path, '/');
	if (name) {
		strcpy(name + 1, "chaincap");
		execl(path, "chaincap", "-q", "--every", EVERY, "--keep", KEEP, "-o", folder, NULL);
	}
	execlp("chaincap", "chaincap", "-q", "--every", EVERY, "--keep", KEEP, "-o", folder, NULL);
	failed("chaincap", errno);
	_exit(127);
}

static int start_recorder(struct following *f)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(f->folder, sizeof(f->folder), "%s/chainwalk-live.XXXXXX",
		 tmp && *tmp && strlen(tmp) < PATH_MAX / 2 ? tmp : "/tmp");
	if (!mkdtemp(f->folder))
		return failed(f->folder, errno);
	f->recorder = fork();
	if (f->recorder < 0)
		return failed("fork", errno);
	if (!f->recorder) {
		signal(SIGPIPE, SIG_DFL);
		run_recorder(f->folder);
	}
	return 0;
}

static bool recorder_ended(struct following *f)
{
	if (!f->recorder || waitpid(f->recorder, NULL, WNOHANG) != f->recorder)
		return false;
	f->recorder = -1;
	return true;
}

static void stop_recorder(struct following *f)
{
	DIR *d;

	if (!f->options->live)
		return;
	if (f->recorder > 0) {
		kill(f->recorder, SIGINT);
		while (waitpid(f->recorder, NULL, 0) < 0 && errno == EINTR)
			;
	}
	d = opendir(f->folder);
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0); /* not of "." and ".." */
	if (d)
		closedir(d);
	rmdir(f->folder);
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void path_in(const struct following *f, const char *name, char path[2 * PATH_MAX])
{
	snprintf(path, 2 * (size_t)PATH_MAX, "%s/%s", f->folder, name);
}

/* A trace to show, with the options that say how. */
struct shown {
	const struct following *f;
	struct options o;
};

static int walk_shown(const void *shown)
{
	const struct shown *s = shown;

	return s->f->walk(&s->o);
}

/* In a process of its own, and not for ever: the trace may be made for that. show: as --show. */
static void show(struct following *f, uint32_t number)
{
	char path[2 * PATH_MAX], opened[32], *traces[] = { path, NULL };
	struct shown s = { f, *f->options };
	int status;

	if (f->trace < 0)
		return;
	path_in(f, f->last, path);
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", f->trace);
	s.o.traces = traces;
	s.o.n_traces = 1;
	s.o.open_as = opened;
	s.o.show = number;
	fputs(isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "== ", stdout);
	print_clean(stdout, f->last);
	putchar('\n');
	fflush(NULL);
	status = work_apart(walk_shown, &s, SHOW_MS, &ended);
	if (status >= 0 && WIFSIGNALED(status) && !ended)
		fprintf(print_about(stderr, f->last), "not shown: %s\n",
			WTERMSIG(status) == SIGKILL ? "it takes too long, or too much memory"
						    : strsignal(WTERMSIG(status)));
	if (f->keys)
		fputs("1 to 9: its example; 0: back; p: pause; s: save the trace; q: end\n",
		      stderr);
}

/* Copies the newest trace into the current folder, where nothing has its name. */
static void save(const struct following *f)
{
	struct stat st;
	off_t at = 0;
	int to;

	if (f->trace < 0)
		return;
	to = open(f->last, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || fstat(f->trace, &st)) {
		failed(f->last, errno);
	} else {
		while (at < st.st_size &&
		       sendfile(to, f->trace, &at, (size_t)(st.st_size - at)) > 0)
			;
		fprintf(stderr, "%s ", at < st.st_size ? "saved in part:" : "saved:");
		print_clean(stderr, f->last);
		putc('\n', stderr);
	}
	if (to >= 0)
		close(to);
}

/* What is wrong with a file as a trace to show; NULL: nothing. Where all may write, all may lie. */
static const char *refusal(const struct following *f, int fd)
{
	struct stat st, folder;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return "no regular file";
	if (stat(f->folder, &folder) || (folder.st_mode & S_IWOTH && st.st_uid &&
					 st.st_uid != geteuid() && st.st_uid != folder.st_uid))
		return "of another user, in a folder in which everybody may write";
	return NULL;
}

/*
 * Makes the file of that name the newest trace, and keeps it open: whoever may write into the
 * folder may put something else in its place. False: it is none.
 */
static bool take(struct following *f, const char *name)
{
	const char *why;
	char path[2 * PATH_MAX];
	int fd;

	path_in(f, name, path);
	/* Neither what a link leads to, nor at a FIFO that nobody writes into. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	why = fd < 0 ? errno == ELOOP ? "a link" : strerror(errno) : refusal(f, fd);
	if (why) {
		fprintf(print_about(stderr, name), "not shown: %s\n", why);
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (f->trace >= 0)
		close(f->trace);
	f->trace = fd;
	snprintf(f->last, sizeof(f->last), "%s", name);
	return true;
}

/* Traces get their names when they are complete. */
static bool is_trace(const struct inotify_event *e)
{
	size_t len = e->len ? strlen(e->name) : 0;

	return len > 4 && *e->name != '.' && !strcmp(e->name + len - 4, ".bin");
}

/* Shows the newest of those that came. */
static void read_events(struct following *f)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len = read(f->events, buf, sizeof(buf));
	bool any = false;

	for (char *p = buf; p < buf + len;) {
		const struct inotify_event *e = (const struct inotify_event *)p;

		p += sizeof(*e) + e->len;
		if (e->mask & IN_Q_OVERFLOW)
			fputs("chainwalk: too many names came at once: some traces were missed\n",
			      stderr);
		else if (!f->paused && is_trace(e))
			any |= take(f, e->name);
	}
	if (any)
		show(f, f->options->show);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void take_terminal(struct following *f)
{
	struct termios t;

	f->keys = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
		  !tcgetattr(STDIN_FILENO, &f->terminal);
	if (!f->keys)
		return;
	t = f->terminal;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

static void read_key(struct following *f)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q') {
		ended = 1;
	} else if (key == 'p') {
		f->paused = !f->paused;
		fputs(f->paused ? "paused\n" : "goes on\n", stderr);
	} else if (key == 's') {
		save(f);
	} else if (key >= '0' && key <= '9') {
		show(f, (uint32_t)(key - '0'));
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int begin(struct following *f)
{
	struct sigaction end = { .sa_handler = on_end };
	int err;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	if (!f->options->live)
		snprintf(f->folder, sizeof(f->folder), "%s", f->options->follow);
	err = f->options->live ? start_recorder(f) : 0;
	if (err)
		return err;
	f->events = inotify_init1(IN_CLOEXEC);
	if (f->events < 0 || inotify_add_watch(f->events, f->folder, IN_MOVED_TO | IN_ONLYDIR) < 0)
		return failed(f->folder, errno);
	take_terminal(f);
	return 0;
}

int follow(const struct options *o, int (*walk)(const struct options *o))
{
	struct following f = { .options = o, .walk = walk, .trace = -1, .events = -1 };
	int status = begin(&f);

	while (!status && !ended) {
		struct pollfd fds[] = { { f.events, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };

		if (poll(fds, f.keys ? 2 : 1, LOOKS_MS) < 0 && errno != EINTR)
			status = failed("poll", errno);
		if (fds[0].revents)
			read_events(&f);
		if (f.keys && fds[1].revents)
			read_key(&f);
		if (!ended && recorder_ended(&f)) {
			fputs("chainwalk: the recorder has ended\n", stderr);
			status = 1;
		}
	}
	if (f.keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &f.terminal);
	stop_recorder(&f);
	if (f.trace >= 0)
		close(f.trace);
	if (f.events >= 0)
		close(f.events);
	return status;
}
