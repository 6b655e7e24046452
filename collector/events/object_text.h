/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_text.h - what the BPF side says of an object (struct wire_object) in words: its class, and
 * its name among the objects of that class. Names contain strangers' text: any bytes but 0.
 */
#ifndef OBJECT_TEXT_H
#define OBJECT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

#define OBJECT_CLASS_LEN 32
#define OBJECT_NAME_LEN 640
#define OBJECT_END_LEN 96

struct object_text {
	char class[OBJECT_CLASS_LEN];
	char name[OBJECT_NAME_LEN]; /* "": there is no more to say than the class */
	/*
	 * Sockets with addresses: the own end, "tcp 10.0.0.1:40000". The other end's own one leads
	 * to its process, if that is on this machine.
	 */
	char own[OBJECT_END_LEN];
	uint32_t peer;	/* process at the other end; 0: not known */
	uint32_t owner; /* with own: its process */
};

/* Describes the record of len bytes. Returns 0, or -EBADMSG if it is none. */
int object_describe(const struct wire_object *o, size_t len, struct object_text *out);

#endif /* OBJECT_TEXT_H */
