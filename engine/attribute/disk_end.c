// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_end.h"

const char *disk_stage_name(enum disk_stage stage)
{
	return stage == DISK_QUEUED ? "[queued]" : stage == DISK_DEVICE ? "[device]" : NULL;
}

const struct disk_request *disk_request_of(const struct timelines *tl, const struct wait *w)
{
	return timelines_disk_request(tl, timelines_pair(tl, w->waker_stack).request);
}
