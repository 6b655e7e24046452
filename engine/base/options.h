/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - what the user asked for, as one struct of plain values: which waits, how they are
 * attributed, how they are shown. command_line.h fills it from argv.
 */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum options_mode {
	MODE_EXACT,
	MODE_CLASSIC,
};

enum options_when {
	WHEN_NEVER,
	WHEN_AUTO, /* on a terminal */
	WHEN_ALWAYS,
};

enum options_unit {
	UNIT_US,
	UNIT_NS,
};

/* The tables of rows (formats/row_tables.h), and which of them is written. */
enum options_rows {
	ROWS_TRACES,  /* one row: the trace itself */
	ROWS_MODULES, /* files that the frames of its chains are in */
	ROWS_CHAINS,  /* the frames of each chain */
	ROWS_WAITS,   /* what was waited for, and how long */
	ROWS_ALL,     /* how many there are, too */
};

enum options_view {
	VIEW_CHAIN,
	VIEW_WAKEUP, /* waker stacks only */
	VIEW_IO,     /* requests to disks: who asked, for what, how long it took */
};

/* What the first frame of each line is. */
enum options_root {
	ROOT_HOST,    /* the machine on which the trace was recorded */
	ROOT_TRACE,   /* its path */
	ROOT_CLASS,   /* what was waited for */
	ROOT_CGROUP,  /* the control group of the thread that waits */
	ROOT_PROCESS, /* its process, by name */
	ROOT_BESIDE,  /* no such frame: whose threads they are is told beside the lines */
	ROOT_NONE,
};

/* How the objects are shown that threads wait for. */
enum options_objects {
	OBJECTS_CLASS, /* "[file]" */
	OBJECTS_FULL,  /* "[file /etc/passwd]" */
	OBJECTS_NONE,
};

/* Parts of a thread's time, for options.parts. */
enum options_part {
	PART_BLOCKED = 1,
	PART_RUNNABLE = 2,
	PART_PREEMPTED = 4,
	PART_RUNNING = 8, /* not off-CPU: only with samples */
	PART_ALL = 15,
};

/* The parts by the words of --state; the table ends with a NULL word. */
struct options_part_word {
	const char *word;
	unsigned int part; /* enum options_part */
};
extern const struct options_part_word options_part_words[];

/*
 * Which options were given, with any value; options of one kind share a bit. A format says which it
 * takes (struct format): an option that would have no effect is bad usage. Options of one format
 * alone need no bit.
 */
#define GIVEN(bit) (UINT64_C(1) << (bit))
/* Whose time, and which waits. */
#define GIVEN_WHO GIVEN(0) /* -p -t -c --tree-of --cgroup */
#define GIVEN_ALL GIVEN(1)
#define GIVEN_RANGE GIVEN(2) /* --from --to */
#define GIVEN_NO_KTHREADS GIVEN(3)
#define GIVEN_ENDED GIVEN(4)	  /* --ended --not-woken */
#define GIVEN_WITHIN GIVEN(5)	  /* --within --without */
#define GIVEN_OF_OBJECTS GIVEN(6) /* --object --class */
#define GIVEN_WAIT GIVEN(7)	  /* --min-wait --max-wait */
#define GIVEN_STATE GIVEN(8)
#define GIVEN_PARTS GIVEN(9) /* --state with a part, not with letters only */
#define GIVEN_NO_IDLE GIVEN(10)
#define GIVEN_REQUESTS GIVEN(11) /* --requests --request --request-min --trace-id --slowest */
/* How chains are followed, and written. */
#define GIVEN_DEPTH GIVEN(12)
#define GIVEN_MODE GIVEN(13)
#define GIVEN_STACKS GIVEN(14) /* -K -U */
#define GIVEN_NATIVE GIVEN(15)
#define GIVEN_BLOCKED_STACKS GIVEN(16)
#define GIVEN_OBJECTS GIVEN(17) /* --objects --no-objects */
#define GIVEN_PLAIN_ENDS GIVEN(18)
#define GIVEN_NO_ENDS GIVEN(19)
#define GIVEN_NO_DELIM GIVEN(20)
#define GIVEN_ANNOTATE GIVEN(21)
#define GIVEN_FOLD_REPEATS GIVEN(22)
#define GIVEN_WHO_RAN GIVEN(23)
#define GIVEN_ROOT GIVEN(24)
#define GIVEN_VIEW GIVEN(25)
/* Form. */
#define GIVEN_TOP GIVEN(26)
#define GIVEN_UNIT GIVEN(27)
#define GIVEN_TABLE GIVEN(28)  /* --json --wide */
#define GIVEN_BUCKET GIVEN(29) /* --table --bucket */

/* What all that shows threads takes. */
#define GIVEN_OF_THREADS (GIVEN_WHO | GIVEN_ALL | GIVEN_RANGE)
/* And what all that shows waits takes besides. */
#define GIVEN_OF_WAITS                                                                      \
	(GIVEN_OF_THREADS | GIVEN_NATIVE | GIVEN_NO_KTHREADS | GIVEN_ENDED | GIVEN_WITHIN | \
	 GIVEN_OF_OBJECTS | GIVEN_WAIT | GIVEN_STATE | GIVEN_PARTS | GIVEN_NO_IDLE)
/* And what all that follows chains takes besides. */
#define GIVEN_OF_CHAINS \
	(GIVEN_OF_WAITS | GIVEN_REQUESTS | GIVEN_DEPTH | GIVEN_STACKS | GIVEN_OBJECTS)
/* How time is attributed to chains, and shown below it. */
#define GIVEN_ATTRIBUTED (GIVEN_MODE | GIVEN_BLOCKED_STACKS | GIVEN_PLAIN_ENDS)
/* How the frames of a line are written. */
#define GIVEN_WRITTEN \
	(GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_ANNOTATE | GIVEN_FOLD_REPEATS | GIVEN_WHO_RAN)
/* Tables of rows; the root of their objects in JSON. */
#define GIVEN_OF_TABLES (GIVEN_TOP | GIVEN_UNIT | GIVEN_TABLE | GIVEN_ROOT)

#define OPTIONS_DEPTH_DEFAULT 6
#define OPTIONS_DEPTH_MAX 1000
#define OPTIONS_BUCKET_NS 60000000000u

/* A list of process or thread ids. */
struct id_list {
	uint32_t *ids;
	size_t n;
};

/* A list of compiled POSIX extended regular expressions (REG_EXTENDED | REG_NOSUB). */
struct regex_list {
	regex_t *regex;
	size_t n;
	const char **text; /* the expressions, borrowed from argv */
};

/* A list of words. */
struct word_list {
	char **words;
	size_t n;
};

/* A list of paths, borrowed from argv. */
struct path_list {
	const char **paths;
	size_t n;
};

/* Processes by id and by name; the names are borrowed from argv. */
struct process_list {
	struct id_list ids;
	struct path_list names;
};

struct options {
	uint32_t depth; /* links followed, 0..OPTIONS_DEPTH_MAX */
	enum options_mode mode;
	enum options_view view;
	const char *format; /* a name in the table (format_table.h) */
	bool format_given;

	/*
	 * Whose waits: for each list that is not empty, at least one entry must match. So a second
	 * -t adds a thread, and -c restricts -p.
	 */
	struct process_list processes; /* -p */
	struct process_list trees;     /* --tree-of: these and all that they started */
	struct id_list tids;
	struct regex_list names;  /* -c: the thread's name */
	struct regex_list groups; /* --cgroup: the path or the name of its control group */
	bool all_threads;	  /* --all: also if the trace is of a command */
	uint32_t command;	  /* process of the command whose tree is shown; 0: all */
	/* Frames of the off-CPU stack: each of within must match one, and none of without any. */
	struct regex_list within, without;
	struct regex_list waits_for; /* --object: the full name of the object waited for */
	struct word_list classes;    /* --class: its class */
	/*
	 * Clients' waits for requests (chain-semantics, section 15) instead of threads' waits:
	 * those of endpoints that one of the expressions fits, which took so long, of that trace id
	 * (0: of any), and of each endpoint the slowest_ppm millionths that took longest; 0: all.
	 */
	bool requests;
	struct regex_list endpoints;
	uint64_t min_request_ns;
	uint64_t trace_id[2]; /* the upper and the lower half */
	uint32_t slowest_ppm;
	bool no_kthreads;
	bool no_idle;	/* leave out waits for work (select/wait_nature.h) */
	bool ended;	/* --ended: only waits that ended within the trace */
	bool not_woken; /* --not-woken: others, too, even if they are not of a command */

	/*
	 * Times since the start of the trace: the part of a wait in [from_ns, to_ns) is shown.
	 * to_ns UINT64_MAX: up to the end.
	 */
	uint64_t from_ns, to_ns;
	/* Length of the whole wait, both bounds included. */
	uint64_t min_wait_ns, max_wait_ns;
	unsigned int parts; /* enum options_part, or-ed */
	/*
	 * Letters of the sleep states that are shown, such as "SD"; "": any. They also select the
	 * runnable part after a sleep; preempted parts have no sleep state.
	 */
	char states[8];

	/* What is shown of a chain. */
	bool blocked_stacks, annotate, no_ends, no_delim;
	bool plain_ends;	     /* all interrupts end in [interrupt] */
	bool fold_repeats;	     /* links that repeat the one before them are shown once */
	bool who_ran;		     /* show who had the CPU, above [runnable] and [preempted] */
	bool kernel, user;	     /* frames that are shown: both, unless -K or -U */
	bool inlined;		     /* show inlined functions as frames */
	bool native;		     /* without frames of interpreted code */
	struct path_list debug_dirs; /* folders with debug files */
	bool debuginfod;	     /* ask servers for debug files, too */
	const char *sample_event; /* of perf's recording: see import_samples.h; NULL: none named */
	enum options_root root;
	enum options_objects objects;  /* follows from the next two */
	bool full_objects, no_objects; /* --objects, --no-objects */
	bool by_name;		       /* histograms: one for each thread name */
	bool by_object;		       /* objects: a row for each */
	bool json;		       /* a table's rows as JSON objects */
	bool screen_json;	       /* no table was named: the first screen as one object */
	bool wide;		       /* tables do not fit the screen */
	uint32_t show;		       /* --show: the number of a cause; 0: all */
	const char *against;	       /* --against: the recording before; NULL: none */
	const char *follow;	       /* --follow: the folder of traces; NULL: none */
	const char *open_as;	       /* where its trace is opened; NULL: at the trace's path */
	bool live;		       /* --live */
	uint32_t fail_above_ppm;       /* --fail-above, in millionths; 0: not given */
	uint32_t columns, lines;       /* of the screen that a table fits; 0: all are shown */
	bool utf8;		       /* what the screen shows; not known: false */
	enum options_when color_when;  /* --color */
	bool color;		       /* follows from it, and from where the output goes */
	enum options_unit unit;
	enum options_rows rows; /* --table */
	uint64_t bucket_ns;	/* rows: how long the time is that one has */
	uint64_t top;		/* only the N largest of what the format lists; 0: all, or many */

	uint64_t given;	    /* GIVEN_*, or-ed */
	const char *output; /* NULL: standard output */
	bool quiet, verbose;
	bool help, help_all, version, json_schema; /* if one is set, nothing else is done */

	/* Paths of the traces, part of argv; n_traces 0: none was given. */
	char **traces;
	size_t n_traces;
};

/* Sets the values that hold when no option is given. */
void options_init(struct options *o);
void options_free(struct options *o);

void id_list_add(struct id_list *l, uint32_t id);
bool id_list_has(const struct id_list *l, uint32_t id);
void word_list_add(struct word_list *l, const char *word, size_t len);
void path_list_add(struct path_list *l, const char *path);
void word_list_free(struct word_list *l);
/*
 * Compiles text, which must outlive the list, and adds it. Returns 0, or -EINVAL if it is not
 * a regular expression: then why gets the reason, as a line without a newline.
 */
int regex_list_add(struct regex_list *l, const char *text, char *why, size_t why_size);
bool word_list_has(const struct word_list *l, const char *word);
/* Whether the i-th expression matches s, or s has its text as it stands, as names of routes do. */
bool regex_list_names(const struct regex_list *l, size_t i, const char *s);
/* Whether an expression of the list matches s. */
bool regex_list_match(const struct regex_list *l, const char *s);
