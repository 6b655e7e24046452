/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainwire_code.h - frames of interpreted code. Part of chainwire.h. */
#pragma once

#include "chainwire_record.h"
#include "chainwire_variable.h"

/*
 * Frames of interpreted code.
 *
 * An interpreter has a function that runs code ("the evaluator"), and a list of what it runs, a
 * struct for each frame, that every thread's own state leads to. One call of the evaluator runs
 * several frames: all from the current one up to one that is marked as its first ("entry"). The
 * collector finds processes with an interpreter, and says by version where everything is; the BPF
 * side follows the list when a thread goes to sleep, wakes somebody or is sampled. All of it is a
 * stranger's memory: no address is used but to read bounded user memory, and no number without a
 * bound.
 */
enum wire_language { WIRE_PYTHON = 1, WIRE_PHP, WIRE_RUBY, WIRE_V8, WIRE_JAVA, WIRE_LANGUAGES };

#define WIRE_INTERPRETERS (1u << 14)
#define WIRE_INTERPRETED (1u << 15) /* a power of two: entries of the table "interpreted" */
#define WIRE_CODES (1u << 16)	    /* code objects that the BPF side knows */
#define WIRE_CODE_FRAMES 96	    /* of interpreted code, in a stack */

/*
 * V8 (Node.js) has no list: its frames are among the native ones, each with a frame pointer, and
 * with its function below it. What differs from one version to the next: the types of objects, as
 * they are in their maps.
 */
struct wire_v8 {
	__u16 shared, scope, script, bytecodes;
	/*
	 * For the BPF side alone: where in its page the interpreter's calls return to, once it is
	 * known; and how often code was found to have moved.
	 */
	__u32 returns, moved;
};

/* Of a frame: where what is there lies in it; in words from its frame pointer. */
#define WIRE_V8_CONTEXT 1u   /* below it, or an untagged number: it is of another kind */
#define WIRE_V8_FUNCTION 2u  /* likewise */
#define WIRE_V8_BYTECODES 4u /* in what is interpreted, likewise */
#define WIRE_V8_OFFSET 5u
/*
 * Pointers to objects have the tag 1 in two bits, numbers are in the upper halves of words. Where
 * things are in objects, in bytes, the tag left out.
 */
#define WIRE_V8_TAG 1u
#define WIRE_V8_TAGS 3u
#define WIRE_V8_IN_FUNCTION 24u /* the SharedFunctionInfo */
#define WIRE_V8_TYPE_AT 12u	/* in a map, which each object begins with */
#define WIRE_V8_NAME 16u	/* in a SharedFunctionInfo: name, or a ScopeInfo */
#define WIRE_V8_SCRIPT 32u	/* likewise */
#define WIRE_V8_SHARED_BYTES 40u
#define WIRE_V8_SCRIPT_SOURCE 8u /* in a Script */
#define WIRE_V8_SCRIPT_NAME 16u
#define WIRE_V8_SCRIPT_LINE 24u /* of its first character, from 0 on */
#define WIRE_V8_SCRIPT_ID 64u
#define WIRE_V8_SCRIPT_BYTES 72u
/* In a ScopeInfo: flags, a number that is not used, that of locals; then those. */
#define WIRE_V8_SCOPE_FLAGS 8u
#define WIRE_V8_SCOPE_LOCALS 24u
#define WIRE_V8_SCOPE_REST 32u
#define WIRE_V8_INLINE_LOCALS 75u /* of more the names are elsewhere */
#define WIRE_V8_LOCALS_MAX 4096u
#define WIRE_V8_FLAG_CLASS (1u << 10)	 /* a word for a variable of a class follows, */
#define WIRE_V8_FLAG_NAME (3u << 12)	 /* two for the function's name, */
#define WIRE_V8_FLAG_INFERRED (1u << 14) /* and one for what it would be called */
/* In a string: its length in the upper half of the word. Types below 128 are strings, by bits: */
#define WIRE_V8_LENGTH 8u
#define WIRE_V8_CHARS 16u /* or another string: one that it is, a part of, or begins with */
#define WIRE_V8_SECOND 24u
#define WIRE_V8_STRINGS 128u
#define WIRE_V8_STRING_KIND 7u
#define WIRE_V8_ONE_BYTE 8u
/* Of a script's source, bytes: a function that begins after those has no line. */
#define WIRE_V8_SOURCE_BYTES (256u << 10)
/* Of all functions that are new in one stack. */
#define WIRE_V8_STACK_BYTES (512u << 10)
enum wire_v8_string {
	WIRE_V8_FLAT,
	WIRE_V8_CONS,
	WIRE_V8_EXTERNAL,
	WIRE_V8_SLICED,
	WIRE_V8_THIN = 5
};

/*
 * Value of the map "interpreters", by process id. Addresses are the process's, the others are
 * offsets in bytes: in the state of a thread, in a frame, in a code object, in a string.
 */
struct wire_interpreter {
	/* The evaluator: from start up to end. */
	__u64 eval_start, eval_end;
	/*
	 * PYTHON: address of the runtime's Py_tss_t, which has the key by which
	 * pthread_getspecific() finds the state of a thread. PHP: address of the pointer to the
	 * current frame. JAVA, for the collector alone: JVM_STRUCTS, and in gil JVM_TYPES.
	 */
	__u64 root;
	/* RUBY: the variable that points to the execution context of a thread. */
	struct wire_variable variable;
	/* PYTHON: of the GIL's last_holder: its address, or if that is 0 its offset in the
	 * interpreter, which the thread's state has at in_interpreter. RUBY: gil_at of the GVL in
	 * the ractor, which the thread has at in_interpreter; 0: not known. */
	__u64 gil;
	__u32 gil_at;
	__u32 language;			 /* enum wire_language */
	__u32 version;			 /* PYTHON: minor, as 11; others: major << 8 | minor */
	__u16 in_interpreter, thread_id; /* in the state of a thread (RUBY: in
					    the thread); thread_id: of the kernel, 8 bytes (RUBY:
					    4); 0: it has none */
	__u16 current; /* in it: pointer to the current frame, or if has_cframe is 1 to a struct */
	__u16 in_cframe; /* in which this is */
	/* In a frame, below WIRE_CODE_FRAME_BYTES: */
	__u16 code, previous; /* pointers; bit 0 of code does not count */
	__u16 instruction;    /* pointer; or if bytecode is 0 the instruction's index, 4 bytes */
	__u16 entry;	      /* the byte whose bits entry_mask are entry_is in an entry; RUBY: a
				 pointer to it */
	__u8 entry_mask, entry_is;
	__u8 has_cframe;
	__u8 shim;	 /* 1: the entry itself is no code of the program */
	__u16 condition; /* RUBY: in the thread, the condition variable at which it sleeps; for the
			    GVL if the pointer at `unblock` is 0 */
	__u16 unblock;
	__u16 stride; /* RUBY: of the array of frames, in place of `previous` */
	__u16 body;   /* RUBY: in a code object, pointer to what has the rest of it */
	/* In a code object (PHP: in a function), below WIRE_CODE_BYTES: */
	__u16 bytecode;	  /* the first instruction; RUBY: pointer to it, behind its number */
	__u16 name, file; /* pointers to strings */
	__u16 first_line; /* 4 bytes */
	__u16 lines;	  /* PYTHON: pointer to the bytes object with the table of lines; RUBY: to
			     entries of line_bytes that begin with a line, with what tells which */
	__u16 scope;	  /* PHP: pointer to the class, in which the name is at in_scope; may be 0;
			     RUBY: the name of the method or body around it */
	__u16 in_scope;
	__u16 line; /* PHP: the line, 4 bytes, in an instruction */
	__u16 line_bytes;
	__u16 frame_bytes, code_bytes; /* of each that are read: up to the last field */
	/* PYTHON: where the characters of a string are: of an ASCII one, of another. Others: in
	 * ascii; RUBY: of one that has them in itself. */
	__u16 ascii, other;
	/*
	 * 1: code is freed often, and its addresses become other code's. The BPF side sets it when
	 * it sees that.
	 */
	__u32 is_volatile;
	/*
	 * For the BPF side alone: 1 + the key of `root`, once the runtime has it; and 1 if it is
	 * the parent's, and the collector has not told of the child.
	 */
	__u32 key, is_inherited;
	struct wire_v8 v8;
};

/*
 * What is the same in all versions. In glibc's struct pthread on x86-64, unchanged since 2.4:
 * specific_1stblock, of {sequence number, value} for each of the first keys.
 */
#define WIRE_SPECIFIC_AT 0x310
#define WIRE_SPECIFIC_KEYS 32u
/*
 * In Python's strings and bytes objects, and in PHP's strings: the length, 8 bytes; in Python's
 * strings what they consist of, in its bytes objects the bytes.
 */
#define WIRE_LENGTH_AT 16
#define WIRE_TEXT_STATE_AT 32
#define WIRE_BYTES_AT 32
#define WIRE_PHP_INTERNAL 1 /* ZEND_INTERNAL_FUNCTION, in zend_function.type */

/*
 * Ruby. In an execution context: its thread; bytes of a condition variable, and where in the GVL,
 * which begins with its owner, its own variables are.
 */
#define WIRE_RUBY_THREAD_AT 48u
#define WIRE_RUBY_CONDITION_BYTES 48u
#define WIRE_RUBY_GVL_PARTS 8u
#define WIRE_RUBY_GVL_END 176u
/*
 * In the flags of a value: its type, and whether a string has its characters elsewhere, or an
 * array its elements in itself. Before 3.2 the flags of a string of the other kind have its length.
 */
#define WIRE_RUBY_TYPE 0x1fu
#define WIRE_RUBY_STRING 5u
#define WIRE_RUBY_ARRAY 7u
#define WIRE_RUBY_FLAG (1u << 13)
#define WIRE_RUBY_WITH_LENGTH 24u /* value of `ascii` since then */
#define wire_ruby_bytes(flags) ((flags) >> 14 & 31)
/* What begins a code object's body: its kind and the number of its instructions, 4 bytes each. */
#define WIRE_RUBY_TOP 0u
#define WIRE_RUBY_METHOD 1u
#define WIRE_RUBY_BLOCK 2u
#define WIRE_RUBY_RESCUE 4u
#define WIRE_RUBY_ENSURE 5u
#define WIRE_RUBY_MAIN 7u
/*
 * Behind `lines`: the number of entries, and the table: 7 bits for each of the first places, nine
 * in a word; then blocks for 512 places: entries before it, numbers of 9 bits of those in it before
 * each word of bits but the first one, and a bit for each place.
 */
#define WIRE_RUBY_LINES_N 16u
#define WIRE_RUBY_LINES_TABLE 24u
#define WIRE_RUBY_FIRST_PLACES 54u
#define WIRE_RUBY_BLOCKS_AT 48u
#define WIRE_RUBY_BLOCK_BYTES 80u
#define WIRE_RUBY_PLACES (1u << 24) /* of a code object; real ones have a few thousand */

/* The place of what is executed; its frame has that of the next one, but at the beginning. */
static inline __u64 wire_ruby_place(__u64 first, __u64 instruction)
{
	__u64 place = (instruction - first) / 8;

	return place ? place - 1 : 0;
}

#define WIRE_CODE_FRAME_BYTES 128u
#define WIRE_CODE_BYTES 256u

/*
 * A code object that has become known; sent on each CPU before the first stack there that has it.
 * Ids are given in turn, from 1 on; an address that holds another code object later gets another
 * id.
 */
#define WIRE_CODE_TEXT 256u   /* bytes that are kept of a name or a path */
#define WIRE_CODE_LINES 8192u /* bytes of the table of lines */

/* A string as the interpreter has it: chars characters of width bytes. */
struct wire_code_text {
	__u16 bytes; /* kept here */
	__u8 width;  /* 1 (Latin-1), 2 or 4; 0: UTF-8, or bytes of no known encoding */
	__u8 cut;    /* 1: there were more; of a path the first ones are left out */
	char text[WIRE_CODE_TEXT];
};

struct wire_code {
	struct wire_record r;
	__u32 id;
	__u32 tgid;
	__u32 language, version; /* as in struct wire_interpreter */
	__u32 first_line;	 /* 0: not known, as of PHP's own functions */
	__u32 n_lines;		 /* bytes of lines */
	__u64 address;
	struct wire_code_text name, file, scope;
	char lines[WIRE_CODE_LINES];
};

/*
 * A frame of interpreted code in a stack: bit 63; bit 62 if it is the first one that its call of
 * the evaluator runs; the id of its code object, 0: it is none of the program's (shim); and where
 * in it: PYTHON, the instruction's index in units of two bytes; V8, which of the stack's native
 * frames it is, the leaf is 0; others, the line. Both are bounded by their bits: a larger place is
 * the largest.
 */
#define WIRE_CODE_TAG (1ull << 63)
#define WIRE_CODE_ENTRY (1ull << 62)
#define WIRE_CODE_PLACE_BITS 24
/* Ids that the BPF side gives are below this, and not 0; the collector's own are above. */
#define WIRE_CODE_IDS 0x80000000u

static inline __u64 wire_code_frame(__u32 id, __u64 place, int entry)
{
	__u64 most = (1ull << WIRE_CODE_PLACE_BITS) - 1;

	return WIRE_CODE_TAG | (entry ? WIRE_CODE_ENTRY : 0) | (__u64)id << WIRE_CODE_PLACE_BITS |
	       (place < most ? place : most);
}

static inline __u32 wire_code_id(__u64 frame)
{
	return (__u32)(frame >> WIRE_CODE_PLACE_BITS);
}

static inline __u32 wire_code_place(__u64 frame)
{
	return (__u32)frame & ((1u << WIRE_CODE_PLACE_BITS) - 1);
}
