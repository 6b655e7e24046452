/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfprobe.h - finds a function, or a USDT probe, of an ELF file by its name, as probes need it:
 * where it is in the file. Says which names are near one that is not there. The file is untrusted.
 */
#pragma once

#include <stdint.h>

#include "elfsym.h"
#include "near_names.h"
#include "probe_args.h"

#define ELFPROBE_NAME_MAX 1024u /* of names that are asked for, with the terminator */
#define ELFPROBE_PROVIDER_MAX 64u
#define ELFPROBE_PLACES 32u
#define ELFPROBE_ARGS 2u

struct elfprobe_query {
	uint32_t is_usdt;
	uint32_t args[ELFPROBE_ARGS]; /* of a USDT probe, which are wanted: from 1 on; 0: none */
	uint64_t offset;	      /* from the function's first instruction */
	char provider[ELFPROBE_PROVIDER_MAX];
	char name[ELFPROBE_NAME_MAX]; /* mangled or not, or a glob that one function matches */
};

struct elfprobe_place {
	uint64_t offset, semaphore; /* in the file; 0: it has no semaphore */
	struct wire_probe_value args[ELFPROBE_ARGS];
};

/* What may be wrong. */
enum elfprobe_fault {
	ELFPROBE_FOUND,
	ELFPROBE_NO_FILE,    /* it is no ELF file, or damaged */
	ELFPROBE_NOT_NATIVE, /* not of 64 bits and this machine */
	ELFPROBE_NONE,	     /* nothing has that name; names: those near it */
	ELFPROBE_SEVERAL,    /* names: some of those that match */
	ELFPROBE_OUTSIDE,    /* the offset is not in the function */
	ELFPROBE_NO_ARG,     /* there is no such argument, or it is where a probe cannot read it */
	ELFPROBE_TOO_MANY,   /* places */
};

struct elfprobe_answer {
	uint32_t fault;	   /* enum elfprobe_fault */
	uint32_t is_go;	   /* built by Go, which moves the stacks of functions */
	uint32_t n_places; /* a function has one */
	struct elfprobe_place places[ELFPROBE_PLACES];
	uint32_t n_names;
	char names[NEAR_NAMES_MAX][NEAR_NAMES_LEN];
};

void elfprobe_find(struct elfsym *e, const struct elfprobe_query *q, struct elfprobe_answer *out);
