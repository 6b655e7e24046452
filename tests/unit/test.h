/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test.h - unit tests that register themselves, and run in the order of their file:
 *
 *     TEST(what_holds)
 *     {
 *             assert_true(...);
 *     }
 *
 * A test with more to do before them defines OWN_MAIN before it includes this, and has a main()
 * that calls cmocka_run_group_tests(tests, ...). To be included before cmocka's users.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>

#define TESTS_MAX 256

/* Those without a name are passed over. */
static struct CMUnitTest tests[TESTS_MAX];
static size_t n_tests;

/* set_up and tear_down are called before and after it; NULL: nothing is. */
#define TEST_IN(name, set_up, tear_down)                                               \
	static void name(void **state);                                                \
	__attribute__((constructor)) static void register_##name(void)                 \
	{                                                                              \
		assert_true(n_tests < TESTS_MAX);                                      \
		tests[n_tests++] = (struct CMUnitTest)cmocka_unit_test_setup_teardown( \
			name, set_up, tear_down);                                      \
	}                                                                              \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_IN(name, NULL, NULL)

/* As fork(2), of a child that ends with this process: also when the test fails. */
static inline pid_t fork_child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

#ifndef OWN_MAIN
int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
