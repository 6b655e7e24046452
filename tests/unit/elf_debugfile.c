// SPDX-License-Identifier: GPL-2.0-or-later
/* Debug files in the root of a container: which are read, and which are refused. */
#include "test.h"

#include <stdbool.h>

#include "elf/debugfile.h"
#include "stripped_program.h"

struct world {
	char folder[32]; /* the container's root: here is its program, ... */
	char debug[256]; /* ... and here, under it, its debug file */
	struct elfsym *e;
	int fd, root;
};

static int set_up(void **state)
{
	static struct world w;
	uint8_t id[BUILD_ID_MAX];
	char *p = w.debug, line[512];
	size_t len;

	*state = &w;
	enter_folder_with_stripped(w.folder);
	w.e = open_program("stripped", &w.fd);
	w.root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w.root >= 0);
	len = elfsym_build_id(w.e, id);
	assert_true(len >= 2);
	p += sprintf(p, "usr/lib/debug/.build-id/%02x", id[0]);
	snprintf(line, sizeof(line), "mkdir -p %s", w.debug);
	assert_true(shell(line));
	*p++ = '/';
	for (size_t i = 1; i < len; i++)
		p += sprintf(p, "%02x", id[i]);
	strcpy(p, ".debug");
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	elfsym_close(w->e);
	close(w->fd);
	close(w->root);
	leave_folder(w->folder);
	return 0;
}

static bool take(void *state, int fd)
{
	struct debugfile_wanted wanted;
	struct world *w = state;

	debugfile_ask(&wanted, w->e);
	assert_true(debugfile_is_sane(&wanted));
	return debugfile_take(w->e, &wanted, fd);
}

/* The name of the function once what line makes of "$D", the debug file's path, was looked up. */
static const char *name_with(struct world *w, const char *line)
{
	struct debugfile_wanted wanted;

	assert_int_equal(setenv("D", w->debug, 1), 0);
	assert_true(shell(line));
	assert_string_equal(name_in(w->e), "none");
	debugfile_ask(&wanted, w->e);
	debugfile_search(&wanted, w->fd, w->root, "/bin/program", take, w);
	return name_in(w->e);
}

TEST_IN(a_containers_own_debug_file_names_its_program, set_up, tear_down)
{
	assert_string_equal(name_with(*state, "cp whole $D"), "a_local_function");
}

/* As Fedora installs them; relative or not, links stay in the container. */
TEST_IN(a_link_inside_the_container_is_followed, set_up, tear_down)
{
	assert_string_equal(name_with(*state, "cp whole usr/lib/debug/x && "
					      "ln -s /usr/lib/debug/x $D"),
			    "a_local_function");
}

TEST_IN(a_link_out_of_the_container_is_not, set_up, tear_down)
{
	struct world *w = *state;
	char line[128];

	snprintf(line, sizeof(line), "ln -s %s/whole $D", w->folder);
	assert_string_equal(name_with(w, line), "none");
	assert_true(shell("rm $D"));
	assert_string_equal(name_with(w, "ln -s ../../../../../../../../../../..$PWD/whole $D"),
			    "none");
}

/* The path is the build ID, the owner is right: another program of root's, which a link suffices
 * for. */
TEST_IN(a_file_under_the_build_id_that_has_another_one_is_refused, set_up, tear_down)
{
	struct world *w = *state;

	assert_true(shell("objcopy --remove-section .note.gnu.build-id whole without && "
			  "head -c 20 /dev/zero >note && "
			  "objcopy --dump-section .note.gnu.build-id=id whole && "
			  "{ head -c 16 id; cat note; } >other_id && "
			  "objcopy --update-section .note.gnu.build-id=other_id whole other"));
	assert_string_equal(name_with(w, "cp other $D"), "none");
	assert_string_equal(name_with(w, "rm $D && ln -s /other $D"), "none");
	assert_string_equal(name_with(w, "rm $D && cp without $D"), "none");
	assert_string_equal(name_with(w, "cp whole $D"), "a_local_function");
}

/* It could otherwise name functions of a program that runs outside of the container, too. */
TEST_IN(a_debug_file_of_another_owner_is_refused, set_up, tear_down)
{
	if (geteuid()) {
		print_message("needs root, to give a file away\n");
		skip();
	}
	assert_string_equal(name_with(*state, "cp whole $D && chown 12345 $D"), "none");
	assert_true(shell("chown 12345 stripped"));
	assert_string_equal(name_with(*state, "true"), "a_local_function");
}

TEST_IN(a_debug_file_on_another_file_system_is_refused, set_up, tear_down)
{
	struct world *w = *state;
	struct stat here, there;
	char line[128];

	if (stat(".", &here) || stat("/dev/shm", &there) || here.st_dev == there.st_dev ||
	    access("/dev/shm", W_OK)) {
		print_message("needs /dev/shm to be a file system of its own\n");
		skip();
	}
	snprintf(line, sizeof(line), "/dev/shm/debugfile-%d", getpid());
	assert_true(setenv("P", line, 1) == 0 && shell("cp stripped $P"));
	elfsym_close(w->e);
	close(w->fd);
	w->e = open_program(line, &w->fd);
	unlink(line);
	assert_string_equal(name_with(w, "cp whole $D"), "none");
}

TEST_IN(what_is_no_file_or_no_elf_file_is_passed_over, set_up, tear_down)
{
	assert_string_equal(name_with(*state, "mkfifo $D"), "none");
	assert_string_equal(name_with(*state, "rm $D && mkdir $D"), "none");
	assert_string_equal(name_with(*state, "rmdir $D && echo no >$D"), "none");
}

/* ---- by path --------------------------------------------------------------------------------- */

/* The program has no build ID, but a link to "link.debug" with a checksum. */
static void link_program(struct world *w)
{
	elfsym_close(w->e);
	close(w->fd);
	if (!shell("objcopy --remove-section .note.gnu.build-id whole link.debug && "
		   "strip -o linked link.debug && objcopy --add-gnu-debuglink=link.debug linked && "
		   "mkdir -p bin/.debug usr/lib/debug/bin && mv link.debug kept")) {
		w->e = open_program("stripped", &w->fd);
		print_message("needs objcopy\n");
		skip();
	}
	w->e = open_program("linked", &w->fd);
}

TEST_IN(a_linked_file_is_found_where_debuggers_look, set_up, tear_down)
{
	static const char *const places[] = { "bin/link.debug", "bin/.debug/link.debug",
					      "usr/lib/debug/bin/link.debug" };
	struct world *w = *state;
	char line[128];

	link_program(w);
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "mv kept %s", places[i]);
		assert_string_equal(name_with(w, line), "a_local_function");
		snprintf(line, sizeof(line), "mv %s kept", places[i]);
		assert_true(shell(line));
		elfsym_close(w->e);
		close(w->fd);
		w->e = open_program("linked", &w->fd);
	}
	assert_string_equal(name_with(w, "true"), "none");
}

TEST_IN(a_linked_file_with_another_checksum_is_refused, set_up, tear_down)
{
	struct world *w = *state;

	link_program(w);
	assert_string_equal(name_with(w, "cp kept bin/link.debug && echo >>bin/link.debug"),
			    "none");
	assert_string_equal(name_with(w, "cp kept bin/link.debug"), "a_local_function");
}

TEST_IN(a_linked_file_of_another_owner_is_refused, set_up, tear_down)
{
	if (geteuid()) {
		print_message("needs root, to give a file away\n");
		skip();
	}
	link_program(*state);
	assert_string_equal(
		name_with(*state, "cp kept bin/link.debug && chown 12345 bin/link.debug"), "none");
}

TEST_IN(without_a_link_a_file_by_path_needs_the_same_build_id, set_up, tear_down)
{
	struct world *w = *state;

	assert_true(shell("mkdir -p usr/lib/debug/bin && "
			  "objcopy --remove-section .note.gnu.build-id whole without"));
	assert_string_equal(name_with(w, "cp without usr/lib/debug/bin/program.debug"), "none");
	assert_string_equal(name_with(w, "cp whole usr/lib/debug/bin/program.debug"),
			    "a_local_function");
}
