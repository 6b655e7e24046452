// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of a stripped program in its .gnu_debugdata, made as Fedora makes it; and sections that
 * lie. */
#include "test.h"

#include <errno.h>
#include <time.h>

#include "elf/debugfile.h"
#include "stripped_program.h"

/* The functions that are not in the dynamic symbol table, as an ELF file of their own, packed. */
static const char make_mini[] =
	"nm -D program --format=posix --defined-only | cut -d' ' -f1 | sort >dynamic && "
	"nm program --format=posix --defined-only | awk '$2 ~ /^[Tt]$/ { print $1 }' | sort >all "
	"&& "
	"comm -13 dynamic all >keep && objcopy --only-keep-debug program debug && "
	"objcopy -S --remove-section .comment --keep-symbols=keep debug mini && xz -k mini";

struct world {
	char folder[32];
};

static int set_up(void **state)
{
	static struct world w;

	*state = &w;
	enter_folder_with_stripped(w.folder);
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	if (w->folder[0])
		leave_folder(w->folder);
	w->folder[0] = '\0';
	return 0;
}

/* Puts what the line of shell writes to "section" into a copy of the stripped program. */
static struct elfsym *program_with_section(const char *line, int *fd)
{
	if (!shell(line) ||
	    !shell("objcopy --add-section .gnu_debugdata=section stripped with_section")) {
		print_message("needs binutils and xz\n");
		skip();
	}
	return open_program("with_section", fd);
}

static void expect_error(const char *line, int expected)
{
	struct elfsym *more, *e;
	struct timespec t0, t1;
	int fd;

	e = program_with_section(line, &fd);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	assert_int_equal(minidebug_open(&more, e), minidebug_is_supported() ? expected : -ENOTSUP);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	assert_null(more);
	assert_true(t1.tv_sec - t0.tv_sec < 20);
	elfsym_close(e);
	close(fd);
}

TEST_IN(functions_are_named_by_the_mini_debug_info, set_up, tear_down)
{
	struct elfsym *more, *e;
	char line[sizeof(make_mini) + 32];
	int fd, err;

	assert_int_equal(a_local_function(1), 2);
	snprintf(line, sizeof(line), "%s && mv mini.xz section", make_mini);
	e = program_with_section(line, &fd);
	assert_string_equal(name_in(e), "none");
	err = minidebug_open(&more, e);
	if (minidebug_is_supported()) {
		assert_int_equal(err, 0);
		assert_string_equal(name_in(more), "a_local_function");
		elfsym_add(e, more);
		assert_string_equal(name_in(e), "a_local_function");
	} else {
		assert_int_equal(err, -ENOTSUP);
	}
	elfsym_close(e);
	close(fd);
}

TEST_IN(a_program_without_it_has_none, set_up, tear_down)
{
	struct elfsym *more, *e;
	int fd;

	e = open_program("stripped", &fd);
	assert_int_equal(minidebug_open(&more, e), -ENOENT);
	assert_null(more);
	elfsym_close(e);
	close(fd);
}

TEST_IN(what_is_damaged_or_something_else_gives_no_names, set_up, tear_down)
{
	expect_error("echo not xz >section", -ENOEXEC);
	expect_error("echo not ELF | xz >section", -ENOEXEC);
	expect_error("xz -c whole | head -c 1000 >section", -ENOEXEC);
	expect_error("xz -c whole >section && printf '\\377\\377' | "
		     "dd of=section bs=1 seek=500 conv=notrunc 2>dd",
		     -ENOEXEC);
}

/* A few KB that become very much, or need very much: refused before they have it. */
TEST_IN(a_bomb_is_refused, set_up, tear_down)
{
	expect_error("head -c 200M /dev/zero | xz -1 >section", -E2BIG);
	expect_error("xz -c --lzma2=dict=256MiB whole >section", -E2BIG);
}
