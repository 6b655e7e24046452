// SPDX-License-Identifier: GPL-2.0-or-later
/* How block devices are called. */
#include "test.h"
#include <string.h>

#include "events/object_text.h"

static void is_called(const char *kernel, const char *expected)
{
	static struct disk_names names;
	char bytes[WIRE_DISK_NAME] = { 0 }, shown[DISK_NAME_LEN];

	memcpy(bytes, kernel, strlen(kernel) < sizeof(bytes) ? strlen(kernel) : sizeof(bytes));
	for (uint64_t ns = 1; ns < 10000000000; ns += 900000000) {
		disk_name(&names, bytes, ns, shown);
		assert_string_equal(shown, expected);
	}
}

TEST(as_the_kernel_does)
{
	is_called("vda", "vda");
	is_called("", "");
	is_called("cciss!c0d0", "cciss/c0d0");
	/* Arrays of md: by number, partitionable, by name. */
	is_called("md127", "md127");
	is_called("md_d0", "md_d0");
	is_called("md_home", "md_home");
	/* Without a terminator. */
	is_called("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

/* There are no such devices here, or no names for them. */
TEST(device_mappers_without_a_name)
{
	is_called("dm-987654", "dm-987654");
	is_called("dm-987670", "dm-987670"); /* in the same place */
	is_called("dm-", "dm-");
	is_called("dm-1/../../etc", "dm-1/../../etc");
}
