/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jvm_code_private.h - what jvm_code.c and jvm_method.c know of a JVM. */
#pragma once

#include "jvm_code.h"

/* No struct of a JVM that is read has as many bytes. */
#define JVM_STRUCT_BYTES 512u
#define JVM_CODELETS_MAX 1024u
/* What is watched for changes, a power of two. */
#define JVM_WATCHED_MAX 8192u

/* Offsets in structs, sizes of them, and addresses of variables. */
struct jvm_offsets {
	uint64_t heaps, array_len, array_data;
	uint64_t heap_memory, heap_segmap, heap_shift, space_low, space_high;
	uint64_t block_bytes, block_used;
	uint64_t blob_name, blob_complete, blob_frame, blob_begin, blob_end;
	uint64_t code_method, code_id, code_state, code_entry, code_osr_entry, code_bci;
	uint64_t interpreter, queue_buffer, queue_limit, codelet_size, codelet_bytecode, call_stub;
	uint64_t method_const, const_pool, const_name;
	uint64_t pool_holder, pool_length, pool_bytes, klass_name, symbol_length, symbol_body;
	uint64_t pool_file; /* since JDK 12, else */
	uint64_t class_file;
	/* Of what was compiled into other methods; not all JVMs say it alike. */
	uint64_t version, scopes_data, scopes_places, scopes_places_end, scopes_metadata;
	/* Of the lines of methods, likewise. */
	uint64_t const_bytes, const_code_size, const_flags;
	/* Of frames whose code was given up while they were there, likewise. */
	uint64_t code_given_up, code_given_up_mh, code_pc_at;
};

struct jvm_codelet {
	uint64_t end;
	int32_t bytecode; /* negative: none */
};

struct jvm_watched {
	uint64_t at, print; /* at 0: free */
	bool is_method;
};

struct jvm {
	int memory;
	struct jvm_offsets o;
	uint64_t interpreter, interpreter_end, call_stub;
	bool has_scopes, has_lines, tells_given_up; /* whose descriptions are known */
	uint32_t n_codelets;
	struct jvm_codelet codelets[JVM_CODELETS_MAX];
	uint32_t n_watched, next_watched;
	bool is_lost; /* something may have changed that was not watched */
	struct jvm_watched watched[JVM_WATCHED_MAX];
};

/* Of compiled code: where its descriptions are, and where a call returns to in it. */
struct jvm_scopes {
	uint64_t places, places_end, scopes, metadata; /* addresses */
	uint64_t method;			       /* that was compiled */
	int32_t offset;
};

#define JVM_SCOPES_MAX 64u

/* A method that runs at a call, and the number of the bytecode that it is at; -1: its beginning. */
struct jvm_scope {
	uint64_t method;
	int32_t bci;
};

/*
 * The methods that run at that call, with those that were compiled into it, the innermost first.
 * Returns how many, at most JVM_SCOPES_MAX; 0: that is not known.
 */
uint32_t jvm_scopes_find(const struct jvm *j, const struct jvm_scopes *s, struct jvm_scope *out);
/*
 * Takes the next number of bytes[*at..n), which has one to five of them (UNSIGNED5); 0 beyond them.
 */
uint32_t jvm_take_number(const uint8_t *bytes, uint32_t n, uint32_t *at);
/* What tells a method from what is at its address later; 0: it is none. */
uint64_t jvm_method_print(const struct jvm *j, uint64_t method);
/* Names it, and sets *print. False: it is no method. */
bool jvm_name_method(const struct jvm *j, uint64_t method, struct jvm_frame *out, uint64_t *print);

#define JVM_BCI_UNKNOWN INT32_MIN
/* The number of the bytecode whose address has these lower bits; or JVM_BCI_UNKNOWN. */
int32_t jvm_method_bci(const struct jvm *j, uint64_t method, uint32_t bytecode);
/* The line of a method's bytecode; 0: not known. */
uint32_t jvm_method_line(const struct jvm *j, uint64_t method, int32_t bci);

static inline uint64_t jvm_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}
