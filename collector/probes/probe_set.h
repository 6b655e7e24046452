/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe_set.h - finds the places of probes in their files. The files are opened once: what is read
 * of them, in processes without rights, is what is then probed. Processes that map them later are
 * probed, too.
 */
#pragma once

#include <stddef.h>

#include "helper/helper.h"
#include "kernel/bpf.h"
#include "request_spec.h"

struct probe_set {
	struct bpf_probe *at;
	size_t n;
};

/*
 * Finds the places of n requests. Returns 0, or a negative errno with one line in why. Free with
 * probe_set_free() in both cases, after the probes were attached.
 */
int probe_set_find(struct probe_set *set, const struct request_spec *specs, size_t n,
		   struct helpers *helpers, char *why, size_t why_size);
/*
 * Adds the functions of libssl that decipher, of each libssl of this machine, for --tls. *n_found:
 * of how many libraries; *left_out: how many more there are, which are damaged, do not answer, or
 * are too many. Returns as above.
 */
int probe_set_find_tls(struct probe_set *set, struct helpers *helpers, size_t *n_found,
		       size_t *left_out, char *why, size_t why_size);
void probe_set_free(struct probe_set *set);
