/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_name.h - what people call a control group, by its path alone: the unit of systemd, the
 * container, the pod, the job; and the ids of containers and pods.
 */
#pragma once

#define GROUP_NAME_LEN 256 /* with the terminator */

/*
 * Writes the name of the group with that path into out:
 *
 *     /system.slice/nginx.service                          nginx.service
 *     /system.slice/docker-ID.scope, /docker/ID            docker/0123456789ab
 *     /kubepods/burstable/podUID/ID and systemd's forms    pod89abcdef/0123456789ab
 *     /system.slice/slurmstepd.scope/job_7/step_batch/...  slurm/7.batch
 *     /lxc.payload.web/...                                 lxc/web
 *     /any/other                                           /any/other
 *
 * An ID is a hexadecimal number of 32 digits or more, of which 12 are left, as docker ps shows; of
 * a pod's UID 8. A unit in a container stands behind it: docker/0123456789ab/nginx.service. What is
 * too long loses its beginning.
 */
void group_name(const char *path, char out[GROUP_NAME_LEN]);

/* The whole ids in such a path, in the text forms that runtimes show; "": there is none. */
struct group_ids {
	char container[65]; /* hexadecimal */
	char pod[37];	    /* a UID: 8-4-4-4-12 digits */
};
void group_ids(const char *path, struct group_ids *ids);
