// SPDX-License-Identifier: GPL-2.0-or-later
/* A batch program that only computes. Run in a control group with a CPU quota it stands still. */
#include "slow.h"

static NOINLINE void crunch(void)
{
	compute(10000);
	after++;
}

int main(void)
{
	uint64_t end = now_us() + RUN_US;

	call_it("cruncher");
	while (now_us() < end)
		crunch();
	return 0;
}
