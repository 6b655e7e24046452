// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of MongoDB ("MongoDB Wire Protocol"; BSON, version 1.1), Kafka ("Kafka protocol guide")
 * and DNS (RFC 1035, section 4). No server of the first two has been tried.
 */
#include "route_parsers.h"
#include "route_writer.h"

/* ---- MongoDB -------------------------------------------------------------------------------- */

#define OP_QUERY 2004
#define OP_MSG 2013
#define MSG_FLAGS 0x10003 /* that may be set */
#define BSON_STRING 2
#define COMMAND_MAX 24

/* A document's first element: the command; what it is done to, if its value is a text. */
static bool put_command(struct route_writer *w, struct bytes *b)
{
	struct bytes name, value;
	uint64_t length, type;

	if (!take_little_endian(b, 4, &length) || !take_little_endian(b, 1, &type) ||
	    !take_until(b, '\0', &name) || !left(&name) || left(&name) > COMMAND_MAX)
		return false;
	for (const uint8_t *c = name.at; c < name.end; c++)
		if (!is_letter(*c))
			return false;
	while (name.at < name.end)
		route_put(w, *name.at++);
	if (type != BSON_STRING || !take_little_endian(b, 4, &length) ||
	    !take_until(b, '\0', &value) || left(&value) + 1 != length)
		return true;
	route_put(w, ' ');
	route_put_table(w, value);
	return true;
}

bool route_parse_mongodb(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request), text;
	struct route_writer w = route_begin(r, ROUTE_MONGODB, false);
	uint64_t length, id, answers, operation, flags, kind;

	if (!take_little_endian(&b, 4, &length) || length != request->bytes_read ||
	    !take_little_endian(&b, 4, &id) || !take_little_endian(&b, 4, &answers) || answers ||
	    !take_little_endian(&b, 4, &operation) || !take_little_endian(&b, 4, &flags))
		return false;
	if (operation == OP_MSG)
		return !(flags & ~(uint64_t)MSG_FLAGS) && take_little_endian(&b, 1, &kind) &&
		       !kind && put_command(&w, &b);
	/* A collection, and how many documents to leave out and to return. */
	return operation == OP_QUERY && take_until(&b, '\0', &text) &&
	       take_little_endian(&b, 8, &kind) && put_command(&w, &b);
}

/* ---- Kafka ---------------------------------------------------------------------------------- */

static const char *const kafka_requests[] = {
	"Produce",
	"Fetch",
	"ListOffsets",
	"Metadata",
	"LeaderAndIsr",
	"StopReplica",
	"UpdateMetadata",
	"ControlledShutdown",
	"OffsetCommit",
	"OffsetFetch",
	"FindCoordinator",
	"JoinGroup",
	"Heartbeat",
	"LeaveGroup",
	"SyncGroup",
	"DescribeGroups",
	"ListGroups",
	"SaslHandshake",
	"ApiVersions",
	"CreateTopics",
	"DeleteTopics",
	"DeleteRecords",
	"InitProducerId",
	"OffsetForLeaderEpoch",
	"AddPartitionsToTxn",
	"AddOffsetsToTxn",
	"EndTxn",
	"WriteTxnMarkers",
	"TxnOffsetCommit",
	"DescribeAcls",
	"CreateAcls",
	"DeleteAcls",
	"DescribeConfigs",
	"AlterConfigs",
	"AlterReplicaLogDirs",
	"DescribeLogDirs",
	"SaslAuthenticate",
	"CreatePartitions",
};

#define KAFKA_VERSIONS 20

/*
 * Where requests have the name of their first topic: in these versions, behind a text that may be
 * missing and so many bytes, and the number of topics. Later ones have ids instead. In a compact
 * request lengths are varints, one too high.
 */
static const struct kafka_topics {
	uint8_t key, from, to;
	bool behind_text, is_compact;
	uint8_t bytes;
} kafka_topics[] = {
	{ 0, 0, 2, false, false, 6 },	{ 0, 3, 8, true, false, 6 },
	{ 0, 9, 12, true, true, 6 },	{ 1, 0, 2, false, false, 12 },
	{ 1, 3, 3, false, false, 16 },	{ 1, 4, 6, false, false, 17 },
	{ 1, 7, 11, false, false, 25 }, { 1, 12, 12, false, true, 25 },
	{ 2, 0, 1, false, false, 4 },	{ 2, 2, 5, false, false, 5 },
	{ 2, 6, 9, false, true, 5 },
};

#define TOPIC_MAX 249

/* Takes a varint of at most 5 bytes, lowest first. */
static bool take_varint(struct bytes *b, uint64_t *number)
{
	uint64_t byte = 0x80;

	*number = 0;
	for (unsigned int i = 0; i < 5 && byte & 0x80; i++) {
		if (!take_big_endian(b, 1, &byte))
			return false;
		*number |= (byte & 0x7f) << 7 * i;
	}
	return !(byte & 0x80);
}

/* Takes a text; one that is missing is empty. */
static bool take_kafka_text(struct bytes *b, bool is_compact, struct bytes *text)
{
	uint64_t length;

	if (is_compact) {
		if (!take_varint(b, &length))
			return false;
		length -= length > 0;
	} else {
		if (!take_big_endian(b, 2, &length))
			return false;
		length = length == 0xffff ? 0 : length;
	}
	if (left(b) < length)
		return false;
	*text = (struct bytes) { b->at, b->at + length };
	b->at = text->end;
	return true;
}

static bool take_topic(struct bytes *b, const struct kafka_topics *t, struct bytes *topic)
{
	uint64_t tags, topics;

	if (t->is_compact && (!take_varint(b, &tags) || tags)) /* of the header */
		return false;
	if (t->behind_text && !take_kafka_text(b, t->is_compact, topic))
		return false;
	if (left(b) < t->bytes)
		return false;
	b->at += t->bytes;
	if (t->is_compact ? !take_varint(b, &topics) || topics < 2
			  : !take_big_endian(b, 4, &topics) || !topics || topics >> 31)
		return false;
	return take_kafka_text(b, t->is_compact, topic) && left(topic) && left(topic) <= TOPIC_MAX;
}

/* The first topic of a request of which the bytes behind the client's name are left. */
static void put_topic(struct route_writer *w, struct bytes b, uint64_t key, uint64_t version)
{
	struct bytes topic;

	for (size_t i = 0; i < ARRAY_SIZE(kafka_topics); i++) {
		const struct kafka_topics *t = &kafka_topics[i];

		if (t->key != key || version < t->from || version > t->to)
			continue;
		if (take_topic(&b, t, &topic)) {
			route_put(w, ' ');
			route_put_table(w, topic);
		}
		return;
	}
}

/* A length that counts the rest, what is asked for in which version, a number, the client's name.
 */
bool route_parse_kafka(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w = route_begin(r, ROUTE_KAFKA, true);
	uint64_t length, key, version, id, client;

	if (!take_big_endian(&b, 4, &length) || 4 + length != request->bytes_read ||
	    !take_big_endian(&b, 2, &key) || key >= ARRAY_SIZE(kafka_requests) ||
	    !take_big_endian(&b, 2, &version) || version > KAFKA_VERSIONS ||
	    !take_big_endian(&b, 4, &id) || !take_big_endian(&b, 2, &client))
		return false;
	if (client == 0xffff) /* has no name */
		client = 0;
	if (10 + client > length)
		return false;
	for (size_t i = 0; i < client && i < left(&b); i++)
		if (b.at[i] <= ' ' || b.at[i] >= 0x7f)
			return false;
	route_put_text(&w, kafka_requests[key]);
	b.at = left(&b) < client ? b.end : b.at + client;
	put_topic(&w, b, key, version);
	return true;
}

/* ---- DNS ------------------------------------------------------------------------------------ */

#define DNS_QUERY_MASK 0xf800 /* of the flags: an answer, and what kind of query: 0 */
#define LABEL_MAX 63

static const struct {
	uint16_t number;
	const char *name;
} dns_types[] = {
	{ 1, "A" },	{ 2, "NS" },	  { 5, "CNAME" }, { 6, "SOA" },	   { 12, "PTR" },
	{ 15, "MX" },	{ 16, "TXT" },	  { 28, "AAAA" }, { 33, "SRV" },   { 35, "NAPTR" },
	{ 43, "DS" },	{ 48, "DNSKEY" }, { 64, "SVCB" }, { 65, "HTTPS" }, { 252, "AXFR" },
	{ 255, "ANY" }, { 257, "CAA" },
};

/* Takes a name: labels with their lengths, up to one of length 0. */
static bool skip_name(struct bytes *b)
{
	uint64_t length;

	while (take_big_endian(b, 1, &length) && length <= LABEL_MAX && left(b) >= length) {
		if (!length)
			return true;
		b->at += length;
	}
	return false;
}

bool route_parse_dns(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	struct route_writer w = route_begin(r, ROUTE_DNS, true);
	uint64_t id, flags, questions, others, type, class;

	if (!take_big_endian(&b, 2, &id) || !take_big_endian(&b, 2, &flags) ||
	    flags & DNS_QUERY_MASK || !take_big_endian(&b, 2, &questions) || questions != 1 ||
	    !take_big_endian(&b, 4, &others) || others || !take_big_endian(&b, 2, &others) ||
	    others > 1 || !skip_name(&b) || !take_big_endian(&b, 2, &type) ||
	    !take_big_endian(&b, 2, &class) || class != 1)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(dns_types); i++)
		if (dns_types[i].number == type)
			route_put_text(&w, dns_types[i].name);
	return w.len > 0;
}
