/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tape.h - what the BPF side told chaincap in one recording, as a file: what the translator is
 * given, in its order. Written by build/tape/chaincap (tape.c), replayed by events_tapes.c.
 *
 * A tape is compressed by gzip. An item is its head and len bytes. Numbers and structs are those of
 * the machine that recorded it: a tape is good for one architecture and one version of
 * include/chainwire.h.
 */
#pragma once

#include <stdint.h>

enum tape_item {
	TAPE_RECORD = 1, /* of translator_record() */
	TAPE_LEARNT,	 /* uint32_t: the layout that the sample before it has got */
	TAPE_THREAD,	 /* of translator_thread() */
	TAPE_HOLDER,	 /* uint32_t[2]: tid, holder, of translator_holder() */
};

struct tape_head {
	uint32_t item; /* enum tape_item */
	uint32_t len;
};
