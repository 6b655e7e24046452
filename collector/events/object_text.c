// SPDX-License-Identifier: GPL-2.0-or-later
#include "object_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "chainlog.h"

/* A text in an array of fixed size; what does not fit is left out. */
struct room {
	char *p;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct room *r, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(r->p + r->len, r->size - r->len, format, args);
	va_end(args);
	if (n > 0)
		r->len += (size_t)n < r->size - r->len ? (size_t)n : r->size - r->len - 1;
}

static void set_class(struct object_text *out, const char *class)
{
	snprintf(out->class, sizeof(out->class), "%s", class);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The name that ends before `end`, or NULL if there is none before it. */
static const char *name_before(const char *path, const char *end)
{
	if (end == path)
		return NULL;
	for (end--; end > path && end[-1]; end--)
		;
	return end;
}

/* The names of a path, which is not longer than its room, from the root on. */
static void put_path(struct room *r, const struct wire_object *o)
{
	const char *name = o->path + o->path_len;

	if (!o->path_len || o->path[o->path_len - 1]) {
		put(r, "%s", o->whole ? "/" : "");
		return;
	}
	if (!o->whole)
		put(r, "...");
	while ((name = name_before(o->path, name)))
		put(r, "/%s", name);
}

/* The first name in path: the file's own. */
static const char *own_name(const struct wire_object *o)
{
	return o->path_len && !o->path[o->path_len - 1] ? o->path : "";
}

/* "anon_inode:[eventpoll]" is class epoll; the others are called as the kernel calls them. */
static void describe_anonymous(const struct wire_object *o, struct object_text *out)
{
	const char *name = own_name(o), *colon = strchr(name, ':');
	size_t len;

	if (colon)
		name = colon + 1;
	name += *name == '[';
	len = strcspn(name, "]");
	if (!strncmp(name, "eventpoll", len) && len == 9)
		set_class(out, "epoll");
	else if (len && len < sizeof(out->class))
		snprintf(out->class, sizeof(out->class), "%.*s", (int)len, name);
	else
		set_class(out, "anon_inode");
	snprintf(out->name, sizeof(out->name), "%u:%" PRIu64, o->key.tgid, (uint64_t)o->key.v[0]);
}

/* ---- sockets -------------------------------------------------------------------------------- */

#define ADDRESS_LEN (INET6_ADDRSTRLEN + sizeof("[]:65535"))

/* As most systems write it: of IPv4 also on a socket of IPv6. */
static void put_address(char *to, unsigned int family, const __u64 *words, unsigned int port)
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop((int)family, words, address, sizeof(address));
	if (!strncmp(address, "::ffff:", 7) && strchr(address, '.'))
		snprintf(to, ADDRESS_LEN, "%s:%u", address + 7, port);
	else
		snprintf(to, ADDRESS_LEN, family == AF_INET6 ? "[%s]:%u" : "%s:%u", address, port);
}

static void set_protocol(unsigned int protocol, struct object_text *out)
{
	static const struct {
		unsigned int protocol;
		const char *class;
	} classes[] = {
		{ IPPROTO_TCP, "tcp" },	  { 262 /* MPTCP */, "tcp" }, { IPPROTO_UDP, "udp" },
		{ IPPROTO_ICMP, "icmp" }, { IPPROTO_ICMPV6, "icmp" }, { IPPROTO_SCTP, "sctp" },
	};

	set_class(out, "ip");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].protocol == protocol)
			set_class(out, classes[i].class);
}

static void describe_inet(const struct wire_object *o, struct object_text *out)
{
	const struct wire_object_key *key = &o->key;
	unsigned int family = key->v[0] & 0xff;
	unsigned int port = (unsigned int)(key->v[0] >> WIRE_INET_PORT) & 0xffff;
	unsigned int dport = (unsigned int)(key->v[0] >> WIRE_INET_DPORT) & 0xffff;
	char own[ADDRESS_LEN];

	set_protocol((unsigned int)(key->v[0] >> 8) & 0xffff, out);
	if (key->v[0] & WIRE_INET_LISTENS || !(key->v[1] | key->v[2]))
		snprintf(out->name, sizeof(out->name), ":%u", port);
	else
		put_address(out->name, family, &key->v[1], dport);
	put_address(own, family, &key->v[3], port);
	snprintf(out->own, sizeof(out->own), "%s %s", out->class, own);
	out->owner = o->owner;
}

static void describe_unix(const struct wire_object *o, struct object_text *out)
{
	/* An abstract name begins with a 0, and a path ends with one. */
	bool abstract = o->path_len && !o->path[0];
	size_t len = strnlen(o->path + abstract, o->path_len - abstract);

	set_class(out, "unix");
	out->peer = o->peer;
	snprintf(out->name, sizeof(out->name), "%s%.*s", abstract ? "@" : "", (int)len,
		 o->path + abstract);
}

/* Where requests arrive: it is not one process's, and has no other end. */
static void describe_endpoint(const struct wire_object *o, struct object_text *out)
{
	uint64_t v = o->key.v[0];

	if ((v & 0xff) == AF_UNIX) {
		describe_unix(o, out);
		out->peer = 0;
		return;
	}
	set_protocol((unsigned int)(v >> 8) & 0xffff, out);
	snprintf(out->name, sizeof(out->name), ":%u", (unsigned int)(v >> WIRE_INET_PORT) & 0xffff);
}

static void describe_socket(const struct wire_object *o, struct object_text *out)
{
	switch (o->key.v[0] & 0xff) {
	case AF_NETLINK:
		set_class(out, "netlink");
		break;
	case AF_PACKET:
		set_class(out, "packet");
		break;
	case AF_VSOCK:
		set_class(out, "vsock");
		break;
	default:
		set_class(out, "socket");
	}
}

/* ---- the others ----------------------------------------------------------------------------- */

/* A lock of one process is told from that of another one at the same address. */
static void describe_futex(const struct wire_object *o, struct object_text *out)
{
	struct room r = { out->name, sizeof(out->name), 0 };

	set_class(out, "futex");
	out->peer = (uint32_t)o->key.v[2];
	if (!o->shared)
		put(&r, "%u:", o->key.tgid);
	if (!*own_name(o)) {
		put(&r, "0x%" PRIx64, (uint64_t)o->key.v[0]);
		return;
	}
	if (o->shared)
		put_path(&r, o);
	else
		put(&r, "%s", own_name(o));
	if (o->shared) {
		out->device = o->device;
		out->inode = o->inode;
	}
	put(&r, "+0x%" PRIx64, (uint64_t)o->offset);
}

/* A length of two digits, in the units of common/duration.h. */
static void put_length(struct room *r, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 3 && ns < units[i].ns)
		i++;
	if (ns % units[i].ns)
		put(r, "%" PRIu64 ".%" PRIu64 "%s", ns / units[i].ns,
		    ns % units[i].ns * 10 / units[i].ns, units[i].name);
	else
		put(r, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
}

static void describe_call(const struct wire_object *o, struct object_text *out)
{
	static const char *const classes[] = {
		[WIRE_CALL_POLL] = "poll",     [WIRE_CALL_SELECT] = "select",
		[WIRE_CALL_FUTEXES] = "futex", [WIRE_CALL_CHILD] = "child",
		[WIRE_CALL_VFORK] = "child",   [WIRE_CALL_SLEEP] = "sleep",
		[WIRE_CALL_SIGNAL] = "signal", [WIRE_CALL_RING] = "io_uring",
		[WIRE_CALL_AIO] = "aio",       [WIRE_CALL_IPC] = "ipc",
	};
	struct room r = { out->name, sizeof(out->name), 0 };
	uint64_t call = o->key.v[0], arg = o->key.v[1];
	bool named = call < sizeof(classes) / sizeof(classes[0]) && classes[call];

	set_class(out, named ? classes[call] : "call");
	if (call == WIRE_CALL_SLEEP && arg != WIRE_SLEEP_UNKNOWN)
		put_length(&r, arg);
	else if ((call == WIRE_CALL_POLL || call == WIRE_CALL_SELECT) && arg)
		put(&r, "of %" PRIu64, arg);
	else if (call == WIRE_CALL_IPC || (call == WIRE_CALL_CHILD && arg))
		put(&r, "%" PRIu64, arg);
	/* The id is as the parent knows it; by owner it is found out if that is the machine's. */
	if (call == WIRE_CALL_CHILD && arg)
		out->owner = o->owner;
}

/* "poll" of one descriptor: what that is becomes the name. */
static void wrap(struct object_text *out, const char *class)
{
	char inner[OBJECT_NAME_LEN];
	struct room r = { inner, sizeof(inner), 0 };

	put(&r, "%s%s%s", out->class, *out->name ? " " : "", out->name);
	set_class(out, class);
	memcpy(out->name, inner, r.len + 1);
}

int object_describe(const struct wire_object *o, size_t len, struct object_text *out)
{
	struct room r = { out->name, sizeof(out->name), 0 };

	*out->class = *out->name = *out->own = '\0';
	out->peer = out->owner = out->device = 0;
	out->inode = 0;
	out->protocol = NULL;
	if (len < offsetof(struct wire_object, path) || o->path_len > sizeof(o->path) ||
	    len < offsetof(struct wire_object, path) + o->path_len)
		return -EBADMSG;
	switch (o->key.kind) {
	case WIRE_OBJECT_FILE:
	case WIRE_OBJECT_LOCK:
		set_class(out, o->key.kind == WIRE_OBJECT_FILE ? "file" : "file_lock");
		put_path(&r, o);
		out->device = (uint32_t)(o->key.v[1] >> 32);
		out->inode = o->key.v[0];
		break;
	case WIRE_OBJECT_ANON:
		describe_anonymous(o, out);
		break;
	case WIRE_OBJECT_PIPE:
		set_class(out, "pipe");
		if (o->key.v[2]) {
			put_path(&r, o);
			out->device = (uint32_t)(o->key.v[1] >> 32);
			out->inode = o->key.v[0];
		} else {
			put(&r, "%" PRIu64, (uint64_t)o->key.v[0]);
		}
		break;
	case WIRE_OBJECT_INET:
		describe_inet(o, out);
		break;
	case WIRE_OBJECT_UNIX:
		describe_unix(o, out);
		break;
	case WIRE_OBJECT_SOCKET:
		describe_socket(o, out);
		break;
	case WIRE_OBJECT_FUTEX:
		describe_futex(o, out);
		break;
	case WIRE_OBJECT_GIL: /* a process has one, as far as is told here */
		set_class(out, "GIL");
		out->peer = o->key.tgid;
		break;
	case WIRE_OBJECT_ENDPOINT:
		describe_endpoint(o, out);
		break;
	case WIRE_OBJECT_ROUTE:
		set_class(out, CHAINLOG_CLASS_ROUTE);
		put(&r, "%.*s", (int)o->path_len, o->path);
		break;
	case WIRE_OBJECT_GROUP:
		set_class(out, CHAINLOG_CLASS_GROUP);
		put_path(&r, o);
		out->device = (uint32_t)o->key.v[1];
		out->inode = o->key.v[0];
		break;
	case WIRE_OBJECT_CALL:
		describe_call(o, out);
		break;
	default:
		return -EBADMSG;
	}
	if (o->key.call == WIRE_CALL_POLL)
		wrap(out, "poll");
	return 0;
}

/* ---- block devices --------------------------------------------------------------------------- */

#define DISK_AGAIN_NS 1000000000u /* between two looks at a name */

/* The name that somebody gave to dm-N; the kernel's own if there is none any more. */
static void read_mapped(const char *kernel, char shown[DISK_NAME_LEN])
{
	char path[64];
	FILE *f;

	snprintf(shown, DISK_NAME_LEN, "%s", kernel);
	snprintf(path, sizeof(path), "/sys/block/%s/dm/name", kernel);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(shown, DISK_NAME_LEN, f))
		snprintf(shown, DISK_NAME_LEN, "%s", kernel);
	shown[strcspn(shown, "\n")] = '\0';
	fclose(f);
}

/* Whether it is dm-N; *slot: where the name of that is kept. */
static bool is_mapped(const char *name, size_t *slot)
{
	char *end;

	if (strncmp(name, "dm-", 3) || name[3] < '0' || name[3] > '9')
		return false;
	*slot = strtoul(name + 3, &end, 10) % DISK_NAMES;
	return !*end;
}

void disk_name(struct disk_names *d, const char *kernel, uint64_t time_ns,
	       char shown[DISK_NAME_LEN])
{
	char name[WIRE_DISK_NAME + 1] = { 0 };
	size_t slot;

	memcpy(name, kernel, WIRE_DISK_NAME);
	if (is_mapped(name, &slot)) {
		if (strncmp(d->known[slot].kernel, name, WIRE_DISK_NAME) ||
		    time_ns > d->known[slot].read_ns + DISK_AGAIN_NS) {
			memcpy(d->known[slot].kernel, name, WIRE_DISK_NAME);
			d->known[slot].read_ns = time_ns;
			read_mapped(name, d->known[slot].shown);
		}
		memcpy(shown, d->known[slot].shown, DISK_NAME_LEN);
		return;
	}
	/* In place of a '/', which a name in sysfs cannot have. */
	for (char *c = name; *c; c++)
		if (*c == '!')
			*c = '/';
	snprintf(shown, DISK_NAME_LEN, "%s", name);
}
