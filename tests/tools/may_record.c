// SPDX-License-Identifier: GPL-2.0-or-later
/* may_record - says what the kernel refuses of what each recording needs, and exits 1; else 0. */
#include <stdio.h>

#include "../unit/may_record.h"

int main(void)
{
	const char *refused = what_is_refused();

	if (refused)
		printf("recording is not permitted here: %s\n", refused);
	return refused != NULL;
}
