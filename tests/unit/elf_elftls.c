// SPDX-License-Identifier: GPL-2.0-or-later
/* Where programs and libraries keep an exported thread-local variable, as compilers reach it. */
#define OWN_MAIN
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elftls.h"

static char built[4000]; /* the folder of the build */

static int find_in(const char *file, const char *name, struct elftls *out)
{
	char path[4200];
	struct elfsym *e;
	int err;

	snprintf(path, sizeof(path), "%s/%s", built, file);
	assert_int_equal(elfsym_take_fd(&e, open(path, O_RDONLY | O_CLOEXEC)), 0);
	err = elftls_find(e, name, out);
	elfsym_close(e);
	return err;
}

static void has_variable(const char *file, enum wire_tls tls)
{
	struct elftls found;

	assert_int_equal(find_in(file, "otel_thread_ctx_v1", &found), 0);
	if (found.tls != tls)
		fail_msg("%s: expected way %u, got %u", file, tls, found.tls);
	assert_int_equal(!found.slot, tls == WIRE_TLS_STATIC);
	assert_int_equal(!found.offset, tls != WIRE_TLS_STATIC);
}

TEST(each_way_is_recognized)
{
	has_variable("shop_static", WIRE_TLS_STATIC);
	has_variable("context_descriptor.so", WIRE_TLS_DESCRIPTOR);
	has_variable("context_descriptor_large.so", WIRE_TLS_DESCRIPTOR);
	has_variable("context_module.so", WIRE_TLS_MODULE_SLOT);
	has_variable("context_offset.so", WIRE_TLS_OFFSET_SLOT);
}

TEST(others_have_none)
{
	struct elftls found;

	assert_int_equal(find_in("shop", "otel_thread_ctx_v1", &found), -ENOENT);
	assert_int_equal(find_in("context_offset.so", "otel_thread_ctx_v", &found), -ENOENT);
	/* A function, not a variable. */
	assert_int_equal(find_in("context_offset.so", "context_set", &found), -ENOENT);
	/* Exported, but the library itself never reaches it. */
	assert_int_equal(find_in("context_module.so", "context_block", &found), -ENOTSUP);
}

int main(int argc, char **argv)
{
	(void)argc;
	/* BUILD/tests/unit/elf_elftls */
	snprintf(built, sizeof(built), "%s/../..", dirname(argv[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
