/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvm_structs.h - where a running JVM (HotSpot) has what: it exports descriptions of its own
 * structs, for debuggers ("VMStructs", hotspot/share/runtime/vmStructs.hpp). All of it is a
 * process's memory, which may say anything: this is for processes without rights.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The variables of libjvm.so that hold the addresses of the descriptions. */
#define JVM_STRUCTS "gHotSpotVMStructs"
#define JVM_TYPES "gHotSpotVMTypes"

/* A field that is wanted, or with field NULL the size of its type, in bytes. */
struct jvm_wanted {
	const char *type, *field;
	uint64_t
		*out; /* the field's offset, or its address if it is static; unchanged: not found */
};

/* Reads bytes of the process, whose memory is a descriptor. False: not all could be read. */
bool jvm_read(int memory, void *to, size_t len, uint64_t at);
/* Whether the string there is that one, of less than 64 characters. */
bool jvm_is_string(int memory, uint64_t at, const char *wanted);

/*
 * Finds what is wanted. structs and types: where the process has the two variables. False: there
 * are no descriptions.
 */
bool jvm_find(int memory, uint64_t structs, uint64_t types, const struct jvm_wanted *w, size_t n);
