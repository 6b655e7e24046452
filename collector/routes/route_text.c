// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of redis ("Redis serialization protocol specification") and of memcached
 * (doc/protocol.txt and the binary protocol of its source).
 */
#include "route_parsers.h"
#include "route_writer.h"

#define COMMAND_MAX 20 /* letters of a command */
#define COUNT_DIGITS 7

static bool is_line_end(struct bytes *b)
{
	return take_text(b, "\r\n");
}

/* Takes a number as text. */
static bool take_decimal(struct bytes *b, uint64_t *number)
{
	size_t digits = 0;

	*number = 0;
	while (is_digit(peek(b)) && digits++ < COUNT_DIGITS)
		*number = *number * 10 + (uint64_t)(*b->at++ - '0');
	return digits > 0;
}

/* ---- redis ---------------------------------------------------------------------------------- */

/* Of these the second word is a command, too. */
static const char *const redis_groups[] = {
	"ACL",	  "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DEBUG",   "FUNCTION", "LATENCY",
	"MEMORY", "MODULE", "OBJECT",  "PUBSUB",  "SCRIPT", "SLOWLOG", "XGROUP",   "XINFO",
};

/* What redis itself has (its commands.def); any other may be a stranger's word. */
static const char redis_commands[] =
	" "
	"ACL APPEND ASKING AUTH BGREWRITEAOF BGSAVE BITCOUNT BITFIELD BITFIELD_RO BITOP "
	"BITPOS BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN CLIENT "
	"CLUSTER COMMAND CONFIG COPY DBSIZE DEBUG DECR DECRBY DEL DISCARD DUMP ECHO EVAL "
	"EVALSHA EVALSHA_RO EVAL_RO EXEC EXISTS EXPIRE EXPIREAT EXPIRETIME FAILOVER "
	"FCALL FCALL_RO FLUSHALL FLUSHDB FUNCTION GEOADD GEODIST GEOHASH GEOPOS "
	"GEORADIUS GEOSEARCH GEOSEARCHSTORE GET GETBIT GETDEL GETEX GETRANGE GETSET HDEL "
	"HELLO HEXISTS HEXPIRE HGET HGETALL HINCRBY HINCRBYFLOAT HKEYS HLEN HMGET HMSET "
	"HRANDFIELD HSCAN HSET HSETNX HSTRLEN HVALS INCR INCRBY INCRBYFLOAT INFO KEYS "
	"LASTSAVE LATENCY LCS LINDEX LINSERT LLEN LMOVE LMPOP LPOP LPOS LPUSH LPUSHX "
	"LRANGE LREM LSET LTRIM MEMORY MGET MIGRATE MODULE MONITOR MOVE MSET MSETNX "
	"MULTI OBJECT PERSIST PEXPIRE PEXPIREAT PEXPIRETIME PFADD PFCOUNT PFMERGE PING "
	"PSETEX PSUBSCRIBE PSYNC PTTL PUBLISH PUBSUB PUNSUBSCRIBE QUIT RANDOMKEY "
	"READONLY READWRITE RENAME RENAMENX REPLCONF REPLICAOF RESET RESTORE ROLE RPOP "
	"RPOPLPUSH RPUSH RPUSHX SADD SAVE SCAN SCARD SCRIPT SDIFF SDIFFSTORE SELECT SET "
	"SETBIT SETEX SETNX SETRANGE SHUTDOWN SINTER SINTERCARD SINTERSTORE SISMEMBER "
	"SLAVEOF SLOWLOG SMEMBERS SMISMEMBER SMOVE SORT SORT_RO SPOP SPUBLISH "
	"SRANDMEMBER SREM SSCAN SSUBSCRIBE STRLEN SUBSCRIBE SUBSTR SUNION SUNIONSTORE "
	"SWAPDB SYNC TIME TOUCH TTL TYPE UNLINK UNSUBSCRIBE UNWATCH WAIT WAITAOF WATCH "
	"XACK XADD XAUTOCLAIM XCLAIM XDEL XGROUP XINFO XLEN XPENDING XRANGE XREAD "
	"XREADGROUP XREVRANGE XSETID XTRIM ZADD ZCARD ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY "
	"ZINTER ZINTERSTORE ZLEXCOUNT ZMPOP ZMSCORE ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGE "
	"ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE ZRANK ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK "
	"ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN "
	"ZSCORE ZUNION ZUNIONSTORE ";

/* Commands that people type, without RESP around them; not those that memcached has, too. */
static const char *const redis_inline[] = { "PING",  "INFO",   "MONITOR", "SYNC",
					    "PSYNC", "DBSIZE", "AUTH",	  "KEYS" };

/* Takes "$3\r\nGET\r\n". */
static bool take_bulk(struct bytes *b, struct bytes *text)
{
	uint64_t length;

	if (!take_text(b, "$") || !take_decimal(b, &length) || !is_line_end(b) || left(b) < length)
		return false;
	*text = (struct bytes) { b->at, b->at + length };
	b->at = text->end;
	return true;
}

/* Letters; of commands of modules with a dot between, as in JSON.GET. */
static bool is_command(struct bytes word)
{
	size_t n = left(&word);

	for (; word.at < word.end; word.at++)
		if (!is_letter(*word.at) && *word.at != '.' && *word.at != '_')
			return false;
	return n > 0 && n <= COMMAND_MAX && is_letter(word.end[-1]);
}

static bool is_word_of(struct bytes word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < left(&word) && to_upper(word.at[at]) == (uint8_t)words[i][at] &&
		       words[i][at])
			at++;
		if (at == left(&word) && !words[i][at])
			return true;
	}
	return false;
}

static void put_command(struct route_writer *w, struct bytes word)
{
	char text[COMMAND_MAX + 3] = " ";
	size_t n = 1;
	bool is_fixed;

	for (; word.at < word.end; word.at++, n++) {
		route_put(w, to_upper(*word.at));
		text[n] = (char)to_upper(*word.at);
	}
	text[n] = ' ';
	is_fixed = w->len + 1 == n && strstr(redis_commands, text);
	if (is_fixed)
		w->route->fixed = w->len;
}

static bool parse_inline(struct route_writer *w, struct bytes b)
{
	struct bytes word = { b.at, b.at };

	while (word.end < b.end && is_letter(*word.end))
		word.end++;
	if (word.end == b.end || !is_one_of(*word.end, " \r\n") ||
	    !is_word_of(word, redis_inline, ARRAY_SIZE(redis_inline)))
		return false;
	put_command(w, word);
	return true;
}

bool route_parse_redis(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request), word;
	struct route_writer w = route_begin(r, ROUTE_REDIS, false);
	uint64_t n;

	if (!take_text(&b, "*")) {
		r->is_weak = true;
		return parse_inline(&w, b);
	}
	if (!take_decimal(&b, &n) || !n || !is_line_end(&b) || !take_bulk(&b, &word) ||
	    !is_command(word))
		return false;
	put_command(&w, word);
	if (n > 1 && is_word_of(word, redis_groups, ARRAY_SIZE(redis_groups)) && is_line_end(&b) &&
	    take_bulk(&b, &word) && is_command(word)) {
		route_put(&w, ' ');
		put_command(&w, word);
	}
	return true;
}

/* ---- memcached ------------------------------------------------------------------------------ */

static const char *const memcached_commands[] = {
	"GET",	     "GETS",	  "GAT",    "GATS", "SET",  "ADD",   "REPLACE", "APPEND",
	"PREPEND",   "CAS",	  "DELETE", "INCR", "DECR", "TOUCH", "STATS",	"VERSION",
	"FLUSH_ALL", "VERBOSITY", "MG",	    "MS",   "MD",   "MA",    "MN",	"ME",
};

/* By number; the quiet ones, which have no answer of their own, are left out. */
static const char *const memcached_binary[] = {
	[0x00] = "get",	    [0x01] = "set",	[0x02] = "add",	  [0x03] = "replace",
	[0x04] = "delete",  [0x05] = "incr",	[0x06] = "decr",  [0x08] = "flush_all",
	[0x0a] = "noop",    [0x0b] = "version", [0x0c] = "get",	  [0x0e] = "append",
	[0x0f] = "prepend", [0x10] = "stats",	[0x1c] = "touch", [0x1d] = "gat",
};

#define BINARY_REQUEST 0x80
#define BINARY_HEADER 24

static bool parse_binary(struct route_writer *w, struct bytes b, uint64_t bytes_read)
{
	uint64_t magic, command, key, extras, type, group, body;

	if (!take_big_endian(&b, 1, &magic) || magic != BINARY_REQUEST ||
	    !take_big_endian(&b, 1, &command) || !take_big_endian(&b, 2, &key) ||
	    !take_big_endian(&b, 1, &extras) || !take_big_endian(&b, 1, &type) || type ||
	    !take_big_endian(&b, 2, &group) || !take_big_endian(&b, 4, &body) ||
	    body < key + extras || BINARY_HEADER + body != bytes_read ||
	    command >= ARRAY_SIZE(memcached_binary) || !memcached_binary[command])
		return false;
	route_put_text(w, memcached_binary[command]);
	return true;
}

bool route_parse_memcached(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request), word = { b.at, b.at };
	struct route_writer w = route_begin(r, ROUTE_MEMCACHED, true);

	if (parse_binary(&w, b, request->bytes_read))
		return true;
	while (word.end < b.end && (is_lower(*word.end) || *word.end == '_'))
		word.end++;
	if (word.end == b.end || !is_one_of(*word.end, " \r") ||
	    !is_word_of(word, memcached_commands, ARRAY_SIZE(memcached_commands)))
		return false;
	for (; word.at < word.end; word.at++)
		route_put(&w, *word.at);
	r->fixed = w.len;
	/* The rest of the line is text. */
	for (b.at = word.end; b.at < b.end && *b.at != '\r'; b.at++)
		if (*b.at < ' ' || *b.at >= 0x7f)
			return false;
	return true;
}
