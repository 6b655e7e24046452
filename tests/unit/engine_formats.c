// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every format, with each set of the main options that it takes, over every trace of tests/data: it
 * writes them without an error. Built with SAN=1 the sanitizers judge what it does on the way. That
 * takes minutes, so without them each trace has some of the sets, the next one others.
 */
#include "test.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "format_table.h"
#include "opened.h"

#define ARGS_MAX 12
#ifdef __SANITIZE_ADDRESS__
#define SETS_APART 1
#else
#define SETS_APART 8
#endif

/* All that choose waits, follow chains or write them in another way. */
static const char *const sets[][ARGS_MAX] = {
	{ NULL },
	{ "--all", "--not-woken", "--state=all", NULL },
	{ "--all", "--not-woken", "--state=all", "--json", "--top=3", NULL },
	{ "--requests", NULL },
	{ "--requests", "--state=all", "--who-ran", "--blocked-stacks", "--annotate", NULL },
	{ "--request=.", "--slowest=10%", "--all", NULL },
	{ "--mode=classic", "--depth=2", "--blocked-stacks", "--annotate", "--objects", NULL },
	{ "--depth=30", "--fold-repeats", "--who-ran", "--state=all", "-v", NULL },
	{ "--no-idle", "--no-kthreads", "--min-wait=100us", "--within=read", NULL },
	{ "--from=0.005", "--to=0.03", NULL },
	{ "--bucket=1s", "--top=3", NULL },
	{ "--root=process", "--top=5", NULL },
	{ "--view=wakeup", NULL },
	{ "--view=io", NULL },
	{ "--by-name", "--top=2", NULL },
	{ "--by-object", "--not-woken", NULL },
	{ "--class=tcp,file", "--native", "-K", NULL },
};

#define N_SETS (sizeof(sets) / sizeof(sets[0]))

static unsigned int n_written, of_set[N_SETS];
static char database[] = "/tmp/formats.XXXXXX";

static void write_trace(const struct format *f, struct opened *t, const char *path,
			struct options o)
{
	struct format_input in = { .trace = t->rec.trace,
				   .import = t->rec.import,
				   .timelines = f->wants_timelines ? t->timelines : NULL,
				   .options = &o,
				   .path = path };
	FILE *out = f->database ? NULL : fopen("/dev/null", "we");
	int err = f->write(&in, out);

	if (err)
		fail_msg("%s of %s: %s", f->name, path, strerror(-err));
	if (out)
		fclose(out);
	n_written++;
}

/* With the options of a set, if they go with the format. */
static void write_set(const struct format *f, size_t number, struct opened *t, const char *path)
{
	const char *const *set = sets[number];
	char format[32], why[256];
	char *argv[ARGS_MAX + 6] = { (char *)"chainwalk", (char *)"-f", format };
	struct options o;
	int argc = 3;

	snprintf(format, sizeof(format), "%s", f->name);
	for (; *set; set++)
		argv[argc++] = (char *)*set;
	if (f->one_table)
		argv[argc++] = (char *)"--table=waits";
	if (f->database)
		argv[argc++] = (char *)"-o", argv[argc++] = database;
	argv[argc] = NULL;
	if (!options_parse(&o, argc, argv, why, sizeof(why))) {
		of_set[number]++;
		o.command = o.given & (GIVEN_WHO | GIVEN_ALL)
				    ? 0
				    : trace_info(t->rec.trace)->command_tgid;
		write_trace(f, t, path, o);
		/* On a screen that is too small for all. */
		o.columns = 80;
		o.lines = 24;
		if (f->takes & GIVEN_TABLE && !o.json)
			write_trace(f, t, path, o);
	}
	options_free(&o);
}

/* first: the set to begin with. */
static void write_all(const char *path, size_t first)
{
	const struct format *f = &format_causes;
	struct symbols *symbols = NULL;
	struct opened t = { .is_open = false };
	struct options o;

	options_init(&o);
	o.who_ran = true;
	if (opened_open(&t, path, f, &o) || opened_link(&t, &o, f, &symbols))
		fail_msg("%s cannot be read (run from the project's folder)", path);
	for (size_t i = 0; (f = format_at(i)); i++)
		for (size_t k = first; k < N_SETS; k += SETS_APART)
			write_set(f, k, &t, path);
	opened_close(&t);
	symbols_free(symbols);
	options_free(&o);
}

TEST(of_all_recorded_traces)
{
	glob_t g;
	int fd = mkstemp(database);

	assert_true(fd >= 0);
	close(fd);
	assert_false(glob("tests/data/*.bin", 0, NULL, &g));
	assert_false(glob("tests/data/services/*.bin", GLOB_APPEND, NULL, &g));
	for (size_t i = 0; i < g.gl_pathc; i++)
		write_all(g.gl_pathv[i], i % SETS_APART);
	print_message("%u outputs of %zu traces\n", n_written, g.gl_pathc);
	for (size_t i = 0; i < N_SETS; i++)
		if (!of_set[i])
			fail_msg("no format takes %s ...", sets[i][0]);
	unlink(database);
	globfree(&g);
}
