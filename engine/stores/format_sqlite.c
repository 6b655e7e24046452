// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --format=sqlite: the tables of row_tables.h in an SQLite database, which is made or added to. A
 * trace is one transaction: all of it is there or nothing. One that is there already is replaced.
 *
 * Texts would be most of it, so those of waits are in a table of their own, "keys", and rows refer
 * to them, to chains and to traces by number: "waits" is a view that puts them together.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "common/intern.h"
#include "row_tables.h"

/* "chns", by which file(1) and we know our databases, and the version of the tables. */
#define APPLICATION_ID 0x63686e73
#define USER_VERSION 2
/* How long another process may write. */
#define BUSY_MS 60000

/* Columns of ROWS_WAITS: its texts, from the host on, and its figures. */
#define FIRST_KEY 2
#define N_KEYS 8
#define CHAIN_COLUMN (FIRST_KEY + N_KEYS)
#define RAN_COLUMN (CHAIN_COLUMN + 1)
#define FIRST_FIGURE (RAN_COLUMN + 1)
#define N_FIGURES 7
#define ROUTE_COLUMN (FIRST_FIGURE + N_FIGURES)
#define OVER_COLUMN (ROUTE_COLUMN + 1)

#define KEYS "host, cgroup, process, thread, endpoint, waited_for, ended, had_cpu"
#define FIGURES "latency_ns, waits, blocked_ns, runnable_ns, preempted_ns, running_ns, samples"

#define MAKE_KEYS                                                                             \
	"CREATE TABLE keys(number INTEGER PRIMARY KEY, host TEXT, cgroup TEXT, process TEXT," \
	" thread TEXT, endpoint TEXT, waited_for TEXT, ended TEXT, had_cpu TEXT, route TEXT," \
	" UNIQUE(" KEYS ", route));"
#define MAKE_WAITS                                                                              \
	"CREATE VIEW waits AS SELECT f.time AS time, t.trace AS trace, k.host AS host, cgroup," \
	" process, thread, endpoint, waited_for, ended, had_cpu, c.chain AS chain, r.chain AS"  \
	" ran, " FIGURES ", route, over_ns"                                                     \
	" FROM facts AS f JOIN traces AS t ON t.number = f.trace JOIN keys AS k ON k.number ="  \
	" f.key JOIN chains AS c ON c.number = f.chain"                                         \
	" LEFT JOIN chains AS r ON r.number = f.ran;"
#define MARK "PRAGMA application_id = 0x63686e73; PRAGMA user_version = 2"

static const char schema[] =
	"CREATE TABLE traces(number INTEGER PRIMARY KEY, time INTEGER, trace BLOB UNIQUE, host "
	"TEXT,"
	" started_ns INTEGER, duration_ns INTEGER, cpus INTEGER, kernel TEXT, arch TEXT,"
	" recorder TEXT, events INTEGER, lost INTEGER, bytes INTEGER);"
	"CREATE TABLE modules(time INTEGER, trace BLOB, host TEXT, path TEXT, build_id TEXT);"
	"CREATE INDEX modules_by_trace ON modules(trace);"
	"CREATE TABLE chains(number INTEGER PRIMARY KEY, time INTEGER, chain BLOB UNIQUE,"
	" frames TEXT);" MAKE_KEYS
	"CREATE TABLE facts(time INTEGER, trace INTEGER, key INTEGER, chain INTEGER, ran INTEGER,"
	" latency_ns INTEGER, waits INTEGER, blocked_ns INTEGER, runnable_ns INTEGER,"
	" preempted_ns INTEGER, running_ns INTEGER, samples INTEGER, over_ns INTEGER);"
	"CREATE INDEX facts_by_trace ON facts(trace);"
	"CREATE INDEX facts_by_time ON facts(time);" MAKE_WAITS MARK;

/* From tables of version 1, which had neither routes nor what is beyond their median. */
static const char upgrade[] =
	"DROP VIEW waits; ALTER TABLE keys RENAME TO keys_before;" MAKE_KEYS
	"INSERT INTO keys SELECT number, " KEYS ", '' FROM keys_before; DROP TABLE keys_before;"
	"ALTER TABLE facts ADD COLUMN over_ns INTEGER NOT NULL DEFAULT 0;" MAKE_WAITS MARK;

enum statement {
	ADD_TRACE,
	ADD_MODULE,
	FIND_CHAIN,
	ADD_CHAIN,
	FIND_KEY,
	ADD_KEY,
	ADD_FACT,
	STATEMENTS,
};

static const char *const statements[STATEMENTS] = {
	[ADD_TRACE] = "INSERT INTO traces VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?)",
	[ADD_MODULE] = "INSERT INTO modules VALUES(?,?,?,?,?)",
	[FIND_CHAIN] = "SELECT number FROM chains WHERE chain = ?",
	[ADD_CHAIN] = "INSERT INTO chains VALUES(NULL,?,?,?)",
	[FIND_KEY] = "SELECT number FROM keys WHERE (" KEYS ", route) = (?,?,?,?,?,?,?,?,?)",
	[ADD_KEY] = "INSERT INTO keys VALUES(NULL,?,?,?,?,?,?,?,?,?)",
	[ADD_FACT] = "INSERT INTO facts(trace, key, chain, ran, time, " FIGURES
		     ", over_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
};

/* Numbers of rows that are there, by what they are of. */
struct numbers {
	struct intern of;
	int64_t *at; /* by id */
	size_t cap;
};

struct writer {
	sqlite3 *db;
	const char *path;
	sqlite3_stmt *statements[STATEMENTS];
	int64_t trace; /* number of the current one */
	struct numbers chains, keys;
	struct text_buf key;
};

/* Says what failed on standard error; -ECANCELED, or -ENOMEM. */
static int fail(const struct writer *w)
{
	int code = w->db ? sqlite3_errcode(w->db) : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	fprintf(print_about(stderr, w->path), "%s\n", sqlite3_errmsg(w->db));
	return -ECANCELED;
}

static int run(struct writer *w, const char *sql)
{
	return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(w);
}

/* A number that the database answers with; -1: it does not. */
static int64_t ask(struct writer *w, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

/*
 * Makes the tables of an empty database, and adds what those of version 1 lack; refuses a database
 * that is another program's.
 */
static int make_tables(struct writer *w)
{
	int64_t tables = ask(w, "SELECT count(*) FROM sqlite_master"), version;

	if (tables < 0)
		return fail(w);
	if (!tables)
		return run(w, schema);
	version = ask(w, "PRAGMA application_id") == APPLICATION_ID ? ask(w, "PRAGMA user_version")
								    : 0;
	if (version == USER_VERSION)
		return 0;
	if (version == 1)
		return run(w, upgrade);
	fputs("another database: it has other tables than chainwalk of this version writes\n",
	      print_about(stderr, w->path));
	return -ECANCELED;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Binds values of n columns to the parameters of s, from `at` on. An SQLite result. */
static int bind(sqlite3_stmt *s, int at, const struct row_column *columns, size_t n,
		const union row_value *values)
{
	int ret = SQLITE_OK;

	for (size_t i = 0; i < n && ret == SQLITE_OK; i++, at++) {
		const union row_value *v = &values[i];

		if (columns[i].type == ROW_ID)
			ret = sqlite3_bind_blob(s, at, v->id.bytes, sizeof(v->id.bytes),
						SQLITE_STATIC);
		else if (columns[i].type == ROW_TEXT)
			ret = sqlite3_bind_text(s, at, v->text, -1, SQLITE_STATIC);
		else
			ret = sqlite3_bind_int64(s, at, (int64_t)v->number);
	}
	return ret;
}

/* Adds a row of n columns. *number: its number. 0 or a negative errno. */
static int add(struct writer *w, enum statement which, const struct row_column *columns, size_t n,
	       const union row_value *values, int64_t *number)
{
	sqlite3_stmt *s = w->statements[which];
	bool done = bind(s, 1, columns, n, values) == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE;

	if (!done)
		return fail(w);
	*number = sqlite3_last_insert_rowid(w->db);
	sqlite3_reset(s);
	return 0;
}

/* The number of a row that is there; 0: it is not. */
static int find(struct writer *w, enum statement which, const struct row_column *columns, size_t n,
		const union row_value *values, int64_t *number)
{
	sqlite3_stmt *s = w->statements[which];
	int ret = bind(s, 1, columns, n, values);

	if (ret == SQLITE_OK)
		ret = sqlite3_step(s);
	*number = ret == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	if (ret != SQLITE_ROW && ret != SQLITE_DONE)
		return fail(w);
	sqlite3_reset(s);
	return 0;
}

/* Where the number is kept of what has these bytes; 0: not known yet. */
static int64_t *known(struct numbers *c, const void *of, size_t len)
{
	bool is_new;
	uint32_t id = xintern(&c->of, of, len, &is_new);

	XGROW(c->at, id, c->cap);
	if (is_new)
		c->at[id] = 0;
	return &c->at[id];
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Removes what there is of a trace. */
static int forget(struct writer *w, struct row_id trace)
{
	static const char *const deletes[] = {
		"DELETE FROM facts WHERE trace = (SELECT number FROM traces WHERE trace = ?)",
		"DELETE FROM modules WHERE trace = ?",
		"DELETE FROM traces WHERE trace = ?",
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(deletes) / sizeof(deletes[0]) && !err; i++) {
		sqlite3_stmt *s = NULL;

		if (sqlite3_prepare_v2(w->db, deletes[i], -1, &s, NULL) != SQLITE_OK ||
		    sqlite3_bind_blob(s, 1, trace.bytes, sizeof(trace.bytes), SQLITE_STATIC) !=
			    SQLITE_OK ||
		    sqlite3_step(s) != SQLITE_DONE)
			err = fail(w);
		sqlite3_finalize(s);
	}
	return err;
}

static int put_chain(struct writer *w, const union row_value *values)
{
	const struct row_column *columns = row_tables[ROWS_CHAINS].columns;
	int64_t *number = known(&w->chains, values[1].id.bytes, sizeof(values[1].id.bytes));
	int err;

	err = find(w, FIND_CHAIN, &columns[1], 1, &values[1], number);
	if (!err && !*number)
		err = add(w, ADD_CHAIN, columns, 3, values, number);
	return err;
}

/* The number of a row's texts. */
static int number_of_key(struct writer *w, const union row_value *values, int64_t *number)
{
	struct row_column columns[N_KEYS + 1];
	union row_value of[N_KEYS + 1];
	int64_t *at;
	int err = 0;

	w->key.len = 0;
	for (size_t i = 0; i <= N_KEYS; i++) {
		size_t column = i < N_KEYS ? FIRST_KEY + i : ROUTE_COLUMN;

		columns[i] = row_tables[ROWS_WAITS].columns[column];
		of[i] = values[column];
		text_put(&w->key, of[i].text, strlen(of[i].text) + 1);
	}
	at = known(&w->keys, w->key.p, w->key.len);
	if (!*at)
		err = find(w, FIND_KEY, columns, N_KEYS + 1, of, at);
	if (!err && !*at)
		err = add(w, ADD_KEY, columns, N_KEYS + 1, of, at);
	*number = *at;
	return err;
}

static int put_wait(struct writer *w, const union row_value *values)
{
	const struct row_column *columns = row_tables[ROWS_WAITS].columns;
	sqlite3_stmt *s = w->statements[ADD_FACT];
	static const struct row_id nothing;
	const struct row_id *ran = &values[RAN_COLUMN].id;
	int64_t key, *chain;
	int err = number_of_key(w, values, &key);
	int ret;

	if (err)
		return err;
	chain = known(&w->chains, values[CHAIN_COLUMN].id.bytes, sizeof(ran->bytes));
	ret = sqlite3_bind_int64(s, 3, *chain);
	if (ret == SQLITE_OK && memcmp(ran, &nothing, sizeof(nothing))) {
		chain = known(&w->chains, ran->bytes, sizeof(ran->bytes));
		ret = sqlite3_bind_int64(s, 4, *chain);
	} else if (ret == SQLITE_OK) {
		ret = sqlite3_bind_null(s, 4);
	}
	if (ret == SQLITE_NOMEM)
		return -ENOMEM;
	if (ret == SQLITE_OK)
		ret = sqlite3_bind_int64(s, 1, w->trace);
	if (ret == SQLITE_OK)
		ret = sqlite3_bind_int64(s, 2, key);
	if (ret == SQLITE_OK)
		ret = bind(s, 5, columns, 1, values);
	if (ret == SQLITE_OK)
		ret = bind(s, 6, &columns[FIRST_FIGURE], N_FIGURES, &values[FIRST_FIGURE]);
	if (ret == SQLITE_OK)
		ret = bind(s, 6 + N_FIGURES, &columns[OVER_COLUMN], 1, &values[OVER_COLUMN]);
	if (ret != SQLITE_OK || sqlite3_step(s) != SQLITE_DONE)
		return fail(w);
	sqlite3_reset(s);
	return 0;
}

/* Opens the database and begins the transaction. */
static int begin(struct writer *w)
{
	int err = 0;

	if (sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
	    SQLITE_OK)
		err = fail(w);
	if (!err)
		sqlite3_busy_timeout(w->db, BUSY_MS);
	/* Takes the lock for writing at once: two processes may add to one database. */
	if (!err)
		err = run(w, "BEGIN IMMEDIATE");
	if (!err)
		err = make_tables(w);
	for (int i = 0; i < STATEMENTS && !err; i++)
		if (sqlite3_prepare_v2(w->db, statements[i], -1, &w->statements[i], NULL) !=
		    SQLITE_OK)
			err = fail(w);
	return err;
}

static int put_row(void *arg, enum options_rows table, const union row_value *values)
{
	const struct row_table_shape *shape = &row_tables[table];
	struct writer *w = arg;
	int64_t number;
	int err;

	switch (table) {
	case ROWS_TRACES:
		/* The first row. Others may write until all rows are made. */
		err = begin(w);
		if (!err)
			err = forget(w, values[1].id);
		return err ? err : add(w, ADD_TRACE, shape->columns, shape->n, values, &w->trace);
	case ROWS_MODULES:
		return add(w, ADD_MODULE, shape->columns, shape->n, values, &number);
	case ROWS_CHAINS:
		return put_chain(w, values);
	default:
		return put_wait(w, values);
	}
}

static int write_sqlite(const struct format_input *in, FILE *out)
{
	struct writer w = { .path = in->options->output };
	int err = rows_make(in, &(struct row_sink) { &w, put_row });

	(void)out;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(w.statements[i]);
	if (!err)
		err = run(&w, "COMMIT");
	/* Rolls back what is not committed. */
	sqlite3_close(w.db);
	intern_free(&w.chains.of);
	free(w.chains.at);
	intern_free(&w.keys.of);
	free(w.keys.at);
	text_free(&w.key);
	return err;
}

const struct format format_sqlite = {
	.name = "sqlite",
	.summary = "these tables, added to the SQLite database that -o names",
	.wants_timelines = true,
	.wants_cpus = true,
	.database = true,
	.running = true,
	.several = SEVERAL_ADDED,
	.takes = ROWS_TAKE,
	.write = write_sqlite,
};
