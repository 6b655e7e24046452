// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had what mapped when: fork, exec, exit and remapping, told as the sideband would. */
#include "test.h"

#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "images_world.h"

#define CHILD (P + 1)

/* path is mapped at start, for len bytes, by process tgid. */
static void map(struct world *w, uint32_t tgid, uint64_t time_ns, uint64_t start, uint64_t len,
		uint64_t pgoff, const char *path)
{
	struct code_place place = place_of(tgid, start, len, path);
	struct mapping m = {
		.start = start,
		.end = start + len,
		.pgoff = pgoff,
		.time_ns = time_ns,
	};

	m.file = code_files_get(w->files, &place);
	assert_true(m.file != 0);
	images_map(w->im, images_find(w->im, tgid, time_ns), &m);
}

/* What is at addr at a time; NULL: nothing. */
static const char *at(struct world *w, uint32_t tgid, uint64_t addr, uint64_t time_ns)
{
	const struct image *i = images_find(w->im, tgid, time_ns);
	const struct mapping *m = i ? image_mapping(i, addr, time_ns) : NULL;

	return m ? code_files_path(w->files, m->file) : NULL;
}

TEST_IN(a_child_has_its_parents_mappings_and_later_ones_of_its_own, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "shell");
	map(w, P, 110, 0x1000, 0x1000, 0, "/bin/shell");
	images_fork(w->im, CHILD, P, 200);
	map(w, P, 300, 0x5000, 0x1000, 0, "/lib/parent");
	map(w, CHILD, 310, 0x5000, 0x1000, 0, "/lib/child");
	assert_string_equal(at(w, CHILD, 0x1800, 400), "/bin/shell");
	assert_string_equal(at(w, P, 0x1800, 400), "/bin/shell");
	assert_string_equal(at(w, P, 0x5800, 400), "/lib/parent");
	assert_string_equal(at(w, CHILD, 0x5800, 400), "/lib/child");
	assert_string_equal(image_exe(images_find(w->im, CHILD, 400)), "/bin/shell");
}

/* Inside exec, and already the new program, a thread still has the address that called exec. */
TEST_IN(who_is_inside_exec_comes_from_the_program_before, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "old");
	map(w, P, 110, 0x1000, 0x1000, 0, "/bin/old");
	images_exec(w->im, P, 200, "new");
	assert_string_equal(at(w, P, 0x1800, 205), "/bin/old");
	map(w, P, 210, 0x1000, 0x1000, 0, "/bin/new");
	assert_string_equal(at(w, P, 0x1800, 205), "/bin/old");
	assert_string_equal(at(w, P, 0x1800, 215), "/bin/new");
	map(w, P, 220, 0x5000, 0x1000, 0, "/lib/later");
	assert_string_equal(at(w, P, 0x5800, 215), "/lib/later");
	/* But not another process that had the same id. */
	images_exit(w->im, P, 300);
	images_fork(w->im, P, CHILD, 400);
	assert_null(at(w, P, 0x1800, 410));
}

TEST_IN(an_exec_begins_anew_and_the_past_stays, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "old");
	map(w, P, 110, 0x1000, 0x1000, 0, "/bin/old");
	images_exec(w->im, P, 200, "new");
	assert_string_equal(image_exe(images_find(w->im, P, 205)), "new");
	map(w, P, 210, 0x1000, 0x1000, 0, "/bin/new");
	assert_string_equal(at(w, P, 0x1800, 150), "/bin/old");
	assert_string_equal(at(w, P, 0x1800, 250), "/bin/new");
	assert_null(at(w, P, 0x2000, 250));
	assert_string_equal(image_exe(images_find(w->im, P, 150)), "/bin/old");
	assert_string_equal(image_exe(images_find(w->im, P, 250)), "/bin/new");
}

TEST_IN(a_later_mapping_hides_an_earlier_one_from_then_on, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "x");
	map(w, P, 110, 0x10000, 0x10000, 0, "/lib/first");
	map(w, P, 200, 0x12000, 0x1000, 0, "/lib/second");
	assert_string_equal(at(w, P, 0x12500, 150), "/lib/first");
	assert_string_equal(at(w, P, 0x12500, 250), "/lib/second");
	assert_string_equal(at(w, P, 0x13000, 250), "/lib/first");
	/* A stack of a moment before the record was written. */
	assert_string_equal(at(w, P, 0x10000, 105), "/lib/first");
}

TEST_IN(the_same_mapping_again_takes_no_memory, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "jit");
	for (uint64_t i = 0; i < 100; i++) {
		map(w, P, 110 + i, 0x10000, 0x10000, 0x2000, "/lib/same");
		map(w, P, 110 + i, 0x40000, 0x10000, 0, "//anon");
		map(w, P, 110 + i, 0x40000 + i * 16, 16, 0, "");
	}
	assert_int_equal(images_find(w->im, P, 500)->maps->n, 2);
	/* But a different piece of the file at the same place is another mapping. */
	map(w, P, 300, 0x10000, 0x10000, 0x3000, "/lib/same");
	assert_int_equal(images_find(w->im, P, 500)->maps->n, 3);
}

/* path is mapped as the sideband tells it. */
static void replace(struct world *w, uint32_t tgid, uint64_t time_ns, uint64_t start, uint64_t len,
		    const char *path)
{
	struct image *i = images_find(w->im, tgid, time_ns);
	struct code_place place = place_of(tgid, start, len, path);
	struct mapping m = { .start = start, .end = start + len, .time_ns = time_ns };

	m.file = code_files_get(w->files, &place);
	assert_true(m.file != 0);
	images_map(w->im, images_replace(w->im, i, &m), &m);
}

TEST_IN(code_in_the_place_of_other_code_begins_another_image, set_up, tear_down)
{
	struct world *w = *state;
	struct image *first, *second;

	images_exec(w->im, P, 100, "host");
	replace(w, P, 110, 0x1000, 0x1000, "/bin/host");
	replace(w, P, 120, 0x8000, 0x2000, "/lib/plugin1");
	replace(w, P, 130, 0x20000, 0x1000, "//anon");
	replace(w, P, 140, 0x20800, 0x1000, "//anon");
	replace(w, P, 150, 0x8000, 0x2000, "/lib/plugin1");
	first = images_find(w->im, P, 190);
	assert_int_equal(images_count(w->im), 1);
	replace(w, P, 200, 0x9000, 0x2000, "/lib/second");
	second = images_find(w->im, P, 200);
	assert_int_equal(images_count(w->im), 2);
	assert_ptr_equal(images_find(w->im, P, 199), first);
	assert_true(image_is_valid_at(first, 199) && !image_is_valid_at(first, 200));
	assert_true(image_is_valid_at(second, 200) && !image_is_valid_at(second, 199));
	assert_string_equal(at(w, P, 0x9500, 199), "/lib/plugin1");
	assert_string_equal(at(w, P, 0x9500, 200), "/lib/second");
	assert_string_equal(at(w, P, 0x8500, 200), "/lib/plugin1");
	assert_string_equal(at(w, P, 0x1500, 200), "/bin/host");
	assert_string_equal(image_exe(second), "/bin/host");
	/* The mapping of a moment before /proc was read, which has what came after it. */
	images_found(w->im, CHILD, 500);
	replace(w, CHILD, 500, 0x1000, 0x1000, "/lib/now");
	replace(w, CHILD, 400, 0x1000, 0x1000, "/lib/earlier");
	assert_int_equal(images_count(w->im), 3);
}

/* No unmapping is told: the smaller library lay in the middle of where the larger one had been. */
TEST_IN(a_library_that_is_back_in_its_place_covers_what_was_there_meanwhile, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "host");
	replace(w, P, 110, 0x8000, 0x4000, "/lib/large");
	replace(w, P, 200, 0x9000, 0x1000, "/lib/small");
	replace(w, P, 300, 0x8000, 0x4000, "/lib/large");
	assert_string_equal(at(w, P, 0x9500, 199), "/lib/large");
	assert_string_equal(at(w, P, 0x9500, 299), "/lib/small");
	assert_string_equal(at(w, P, 0x9500, 300), "/lib/large");
	assert_string_equal(at(w, P, 0x8500, 300), "/lib/large");
	assert_int_equal(images_count(w->im), 3);
}

TEST_IN(a_thread_is_no_process_and_a_snapshot_knows_better_than_older_records, set_up, tear_down)
{
	struct world *w = *state;
	struct image *found = images_found(w->im, P, 500);

	map(w, P, 500, 0x1000, 0x1000, 0, "/bin/found");
	images_fork(w->im, P, P, 600);
	images_fork(w->im, P, CHILD, 400);
	images_exec(w->im, P, 450, "older");
	assert_ptr_equal(images_find(w->im, P, 700), found);
	assert_string_equal(at(w, P, 0x1000, 10), "/bin/found");
	assert_int_equal(images_count(w->im), 1);
}

/* Whoever does nothing but replace its code costs its own names, even if it is read anew, and
 * neither much time. */
TEST_IN(a_process_that_replaces_code_for_ever_is_given_up, set_up, tear_down)
{
	struct world *w = *state;
	uint64_t now = 10ull * SECOND;

	images_expire(w->im, now, 5ull * SECOND);
	images_exec(w->im, P, 1, "host");
	for (uint64_t i = 0; i < 100000; i++) {
		if (i % 20000 == 19999)
			images_found(w->im, P, now + i);
		if (!images_find(w->im, P, now + i)->overflowed)
			replace(w, P, now + i, 0x8000, 0x2000, i % 2 ? "/lib/b" : "/lib/a");
	}
	assert_true(images_find(w->im, P, now + 100000)->overflowed);
	assert_in_range(images_count(w->im), 10000, 20000);
	/* Others are not, and the oldest go first. */
	images_exec(w->im, CHILD, now, "other");
	replace(w, CHILD, now + 1, 0x8000, 0x2000, "/lib/a");
	replace(w, CHILD, now + 2, 0x8000, 0x2000, "/lib/b");
	assert_string_equal(at(w, CHILD, 0x8500, now + 1), "/lib/a");
	images_expire(w->im, now + 6ull * SECOND, 5ull * SECOND);
	assert_true(images_count(w->im) <= 3);
	assert_string_equal(at(w, CHILD, 0x8500, now + 2), "/lib/b");
	/* Later it may do so again. */
	images_found(w->im, P, now + 7ull * SECOND);
	replace(w, P, now + 7ull * SECOND + 1, 0x8000, 0x2000, "/lib/a");
	replace(w, P, now + 7ull * SECOND + 2, 0x8000, 0x2000, "/lib/b");
	assert_string_equal(at(w, P, 0x8500, now + 8ull * SECOND), "/lib/b");
}

/* CLONE_VM: what one maps the other has, of which there is no record. */
TEST_IN(what_shares_its_memory_is_given_up_when_one_of_it_maps, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "host");
	replace(w, P, 110, 0x8000, 0x2000, "/lib/a");
	images_fork(w->im, CHILD, P, 200);
	images_share(w->im, CHILD, P, 201);
	images_fork(w->im, CHILD + 1, CHILD, 210);
	images_share(w->im, CHILD + 1, CHILD, 211);
	images_fork(w->im, CHILD + 2, P, 220); /* without CLONE_VM */
	assert_string_equal(at(w, P, 0x8500, 300), "/lib/a");
	assert_string_equal(at(w, CHILD + 1, 0x8500, 300), "/lib/a");
	replace(w, CHILD, 300, 0x8000, 0x2000, "/lib/b");
	assert_true(images_find(w->im, P, 300)->overflowed);
	assert_true(images_find(w->im, CHILD, 300)->overflowed);
	assert_true(images_find(w->im, CHILD + 1, 300)->overflowed);
	assert_null(at(w, P, 0x8500, 300));
	assert_string_equal(at(w, P, 0x8500, 299),
			    "/lib/a"); /* what was there before has its name */
	assert_string_equal(at(w, CHILD + 2, 0x8500, 300), "/lib/a");
}

/* As told late: one of them has mapped something meanwhile. */
TEST_IN(also_if_that_was_before_it_was_known, set_up, tear_down)
{
	struct world *w = *state;

	images_found(w->im, P, 100);
	images_found(w->im, CHILD, 101);
	replace(w, P, 100, 0x8000, 0x2000, "/lib/a");
	replace(w, CHILD, 101, 0x8000, 0x2000, "/lib/a");
	images_share(w->im, CHILD, P, 150);
	assert_string_equal(at(w, P, 0x8500, 160), "/lib/a");
	images_fork(w->im, CHILD + 1, P, 200);
	replace(w, P, 210, 0x18000, 0x2000, "/lib/b");
	replace(w, P, 220, 0x8000, 0x2000, "/lib/c");
	images_share(w->im, CHILD + 1, P, 230);
	assert_null(at(w, CHILD + 1, 0x8500, 230));
	assert_null(at(w, P, 0x8500, 230));
}

/* vfork(), seen before the child's exec or its end. */
TEST_IN(who_has_its_memory_for_itself_again_is_known, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "shell");
	map(w, P, 110, 0x8000, 0x2000, 0, "/bin/shell");
	images_fork(w->im, CHILD, P, 200);
	images_share(w->im, CHILD, P, 201);
	images_fork(w->im, CHILD + 1, P, 210);
	images_share(w->im, CHILD + 1, P, 211);
	images_exec(w->im, CHILD, 300, "date");
	images_exit(w->im, CHILD + 1, 310);
	images_share(w->im, CHILD, P, 299); /* as told late */
	replace(w, CHILD, 400, 0x8000, 0x2000, "/bin/date");
	replace(w, P, 410, 0x18000, 0x2000, "/lib/late");
	assert_string_equal(at(w, CHILD, 0x8500, 500), "/bin/date");
	assert_string_equal(at(w, P, 0x8500, 500), "/bin/shell");
	assert_string_equal(at(w, P, 0x18500, 500), "/lib/late");
}

TEST_IN(an_unknown_process_has_no_image, set_up, tear_down)
{
	struct world *w = *state;

	assert_null(images_find(w->im, P, 100));
	images_exit(w->im, P, 100);
	images_fork(w->im, CHILD, P, 100);
	assert_string_equal(image_exe(images_find(w->im, CHILD, 100)), "");
}

static void count(void *released, struct image *i)
{
	assert_true(i->expired);
	++*(uint32_t *)released;
}

/* Each child execs, so that it has two images, and ends; of every hundredth a stack was recorded.
 */
TEST_IN(a_storm_of_processes_leaves_only_those_with_stacks, set_up, tear_down)
{
	struct world *w = *state;
	uint64_t now = 0, most = 0;
	uint32_t released = 0;

	images_exec(w->im, P, 0, "make");
	map(w, P, 0, 0x1000, 0x1000, 0, "/etc/hosts");
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t tgid = P + 1 + i % 50000;

		now += SECOND / 5000;
		images_expire(w->im, now, 5ull * SECOND);
		images_fork(w->im, tgid, P, now);
		images_exec(w->im, tgid, now + 1, "cc");
		map(w, tgid, now + 2, 0x1000, 0x1000, 0, "/etc/passwd");
		map(w, tgid, now + 2, 0x9000, 0x1000, 0, "/etc/group");
		if (i % 100 == 0)
			images_set_space(w->im, images_find(w->im, tgid, now + 3), i + 1);
		images_exit(w->im, tgid, now + 4);
		if (images_count(w->im) > most)
			most = images_count(w->im);
	}
	/* Two images each, of five seconds at 5000 a second, and the kept ones. */
	assert_true(most <= 2 * 25000 + 1000 + 2);
	assert_string_equal(at(w, P + 50000, 0x1000, now + 3), "/etc/passwd");
	images_expire(w->im, now + 20ull * SECOND, 5ull * SECOND);
	assert_int_equal(images_count(w->im), 1000 + 1);
	assert_int_equal(images_made(w->im), 200000 + 1);
	/* Nobody maps cc any more but the parent is as it was. */
	assert_null(at(w, P + 50000, 0x1000, now));
	assert_string_equal(at(w, P, 0x1000, now), "/etc/hosts");
	for (uint32_t i = 0; i < 100000; i += 100)
		assert_int_equal(images_of_space(w->im, i + 1)->tgid, P + 1 + i % 50000);
	assert_null(images_of_space(w->im, 2));
	images_release(w->im, images_of_space(w->im, 101));
	assert_null(images_of_space(w->im, 101));
	images_release_expired(w->im, count, &released);
	assert_int_equal(released, 999);
	assert_null(images_of_space(w->im, 1));
	assert_int_equal(images_count(w->im), 1);
}

/* No event refers to a space then; as long as the process lives, one may, whatever it runs now. */
TEST_IN(a_space_is_gone_with_its_process, set_up, tear_down)
{
	struct world *w = *state;
	const struct image *first, *second;
	uint64_t now = 10ull * SECOND;

	images_expire(w->im, now, 5ull * SECOND);
	images_exec(w->im, P, now, "first");
	map(w, P, now, 0x8000, 0x2000, 0, "/etc/hosts");
	images_set_space(w->im, images_find(w->im, P, now), 1);
	images_exec(w->im, P, now + 1000, "second");
	images_set_space(w->im, images_find(w->im, P, now + 1000), 2);
	images_expire(w->im, now + 6ull * SECOND, 5ull * SECOND);
	first = images_of_space(w->im, 1);
	second = images_of_space(w->im, 2);
	assert_true(first->expired);
	assert_false(images_is_gone(w->im, first));
	images_exit(w->im, P, now + 7ull * SECOND);
	assert_false(images_is_gone(w->im, second));
	images_expire(w->im, now + 20ull * SECOND, 5ull * SECOND);
	assert_true(images_is_gone(w->im, first));
	assert_true(images_is_gone(w->im, second));
	/* Whether the process that has the id now is another one is not always known. */
	images_found(w->im, P, now + 21ull * SECOND);
	assert_false(images_is_gone(w->im, first));
	images_exit(w->im, P, now + 22ull * SECOND);
	images_expire(w->im, now + 30ull * SECOND, 5ull * SECOND);
	images_expire(w->im, now + 40ull * SECOND, 5ull * SECOND);
	assert_true(images_is_gone(w->im, first));
}

TEST_IN(a_space_that_others_share_is_not_gone_with_its_process, set_up, tear_down)
{
	struct world *w = *state;
	uint64_t now = 10ull * SECOND;

	images_expire(w->im, now, 5ull * SECOND);
	images_exec(w->im, P, now, "parent");
	images_fork(w->im, CHILD, P, now + 10);
	images_set_space(w->im, images_find(w->im, CHILD, now + 10), 1);
	images_share(w->im, CHILD, P, now + 20);
	images_exit(w->im, CHILD, now + 30);
	images_expire(w->im, now + 6ull * SECOND, 5ull * SECOND);
	images_expire(w->im, now + 20ull * SECOND, 5ull * SECOND);
	assert_true(images_of_space(w->im, 1)->expired);
	assert_false(images_is_gone(w->im, images_of_space(w->im, 1)));
}

TEST_IN(a_process_whose_first_thread_ended_stays_as_long_as_it_is_there, set_up, tear_down)
{
	struct world *w = *state;
	uint32_t self = (uint32_t)getpid();

	images_found(w->im, self, 100);
	images_exit(w->im, self, 200);
	images_expire(w->im, 100ull * SECOND, 5ull * SECOND);
	images_expire(w->im, 200ull * SECOND, 5ull * SECOND);
	assert_non_null(images_find(w->im, self, 300));
}

TEST_IN(records_that_come_late_in_one_batch_are_not_expired_at_once, set_up, tear_down)
{
	struct world *w = *state;

	images_exec(w->im, P, 100, "x");
	map(w, P, 100, 0x1000, 0x1000, 0, "/bin/x");
	/* The recorder was stopped for a minute: exit and stacks of then come together now. */
	images_expire(w->im, 60ull * SECOND, 5ull * SECOND);
	images_exit(w->im, P, 200);
	images_expire(w->im, 61ull * SECOND, 5ull * SECOND);
	assert_string_equal(at(w, P, 0x1000, 150), "/bin/x");
	images_expire(w->im, 66ull * SECOND, 5ull * SECOND);
	assert_null(images_find(w->im, P, 150));
}

TEST_IN(lines_of_proc_maps_are_taken_apart, set_up, tear_down)
{
	char exec[] = "7f12a000-7f12b000 r-xp 00026000 fe:01 1234567  /usr/lib/x y.so (deleted)\n";
	char anon[] = "00400000-00401000 rwxp 00000000 00:00 0 \n";
	char data[] = "7f12a000-7f12b000 rw-p 00026000 fe:01 1234567    /usr/lib/libx.so\n";
	char bad[][40] = { "",
			   "\n",
			   "rubbish",
			   "7f12b000-7f12a000 r-xp 0 0:0 1 /x\n",
			   "zz-1 r-xp 0 0:0 1 /x\n",
			   "1000-2000 r-x" };
	struct code_place p = { 0 };
	uint64_t pgoff;

	assert_int_equal(procmaps_parse(exec, &p, &pgoff), 1);
	assert_int_equal(p.start, 0x7f12a000);
	assert_int_equal(p.end, 0x7f12b000);
	assert_int_equal(pgoff, 0x26000);
	assert_int_equal(p.maj, 0xfe);
	assert_int_equal(p.min, 1);
	assert_int_equal(p.ino, 1234567);
	assert_string_equal(p.path, "/usr/lib/x y.so (deleted)");
	assert_int_equal(procmaps_parse(anon, &p, &pgoff), 1);
	assert_string_equal(p.path, "");
	assert_int_equal(procmaps_parse(data, &p, &pgoff), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(procmaps_parse(bad[i], &p, &pgoff) < 0);
}

TEST_IN(all_that_runs_is_found_with_its_files_open, set_up, tear_down)
{
	struct world *w = *state;
	uint64_t main_addr = getauxval(AT_ENTRY);
	const struct mapping *m;
	struct image *self;
	char exe[4096] = { 0 };

	assert_int_equal(procmaps_read_all(w->im, w->files), 0);
	self = images_find(w->im, (uint32_t)getpid(), 1);
	assert_non_null(self);
	m = image_mapping(self, main_addr, 1);
	assert_non_null(m);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_string_equal(code_files_path(w->files, m->file), exe);
	assert_string_equal(image_exe(self), exe);
	assert_true(code_files_open(w->files, m->file) >= 0);
	/* Of kthreadd, where its lack of mappings may be seen. */
	if (!access("/proc/2/exe", F_OK) || errno == ENOENT)
		assert_null(images_find(w->im, 2, 1));
}
