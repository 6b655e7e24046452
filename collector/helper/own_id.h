/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_id.h - a user that no one else is. Who has the same user may send a process signals, change
 * its priority and trace it (kill(2), ptrace(2)): processes without rights of their own must not
 * share one with strangers, as "nobody" is shared.
 */
#pragma once

#include <sys/types.h>

/*
 * Picks an id by chance, from the upper half of the ids of this user namespace: systemd's "Users,
 * Groups, UIDs and GIDs" has no use for those from 2^31 on, and neither have adduser and subuid(5).
 * No process that can be seen runs as the user, and none is called so in /etc/passwd. Returns 0 or
 * a negative errno: -EAGAIN if there is no such id.
 */
int own_id_find(uid_t *id);
