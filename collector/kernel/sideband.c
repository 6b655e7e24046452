// SPDX-License-Identifier: GPL-2.0-or-later
#include "sideband.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "common/grow.h"

/* Bytes that wake the collector: one record of a mapping is enough, one of a thread is not. */
#define WAKE_BYTES 80
/* The group of the kernel's own messages about devices (lib/kobject_uevent.c). */
#define UEVENT_GROUP 1

struct ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
	size_t data_bytes;
};

/* A record of the batch: the offset of its copy. */
struct batch_item {
	uint64_t time_ns;
	size_t offset;
};

struct sideband {
	struct ring *rings;
	uint32_t n_rings;
	int epoll;   /* of the rings; -1: none */
	int uevents; /* socket for the kernel's messages on CPUs and modules; -1: none */
	size_t page_bytes;
	uint64_t lost;	    /* lost records */
	uint64_t told_lost; /* its value when a loss was last passed on (SIDEBAND_MODULE_GONE) */
	uint64_t heard_ns;  /* messages from before this have been read */
	struct batch_item *items;
	size_t n_items, cap_items;
	uint8_t *bytes; /* copies of the batch's records, 8-byte aligned */
	size_t len, cap;
};

/* Record formats of perf_event_open(2); sample_id is just the time. */
struct body_mmap2 {
	struct perf_event_header h;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct body_task {
	struct perf_event_header h;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct body_comm {
	struct perf_event_header h;
	uint32_t pid, tid;
	char comm[];
};

struct body_ksymbol {
	struct perf_event_header h;
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
	char name[];
};

struct body_lost {
	struct perf_event_header h;
	uint64_t id, lost;
};

static int open_event(int cpu, bool with_tasks)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = with_tasks,
		.mmap2 = with_tasks,
		.comm = with_tasks,
		.comm_exec = with_tasks,
		.task = with_tasks,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = with_tasks ? WAKE_BYTES : UINT32_MAX,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_ring(struct sideband *sb, int cpu, uint32_t ring_bytes, bool with_tasks)
{
	struct ring *r = &sb->rings[sb->n_rings];
	int fd = open_event(cpu, with_tasks), err = -ENOMEM;

	if (fd < 0)
		return fd;
	for (size_t bytes = ring_bytes; bytes >= sb->page_bytes; bytes /= 2) {
		void *p = mmap(NULL, sb->page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			       0);

		if (p != MAP_FAILED) {
			struct epoll_event in = { .events = EPOLLIN };

			*r = (struct ring) { .fd = fd, .cpu = cpu, .page = p, .data_bytes = bytes };
			sb->n_rings++;
			return epoll_ctl(sb->epoll, EPOLL_CTL_ADD, fd, &in) ? -errno : 0;
		}
		err = -errno;
		/* Beyond perf_event_mlock_kb a ring is charged to RLIMIT_MEMLOCK. */
		if (err != -EPERM && err != -ENOMEM)
			break;
	}
	close(fd);
	return err;
}

/*
 * Opens the socket on which the kernel reports CPUs that come online, and modules. Returns -1 if
 * that fails: then these go unnoticed.
 */
static int open_uevents(int epoll)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP };
	struct epoll_event in = { .events = EPOLLIN };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &in)) {
		close(fd);
		return -1;
	}
	return fd;
}

int sideband_open(struct sideband **out, uint32_t ring_bytes, bool with_tasks)
{
	struct sideband *sb = calloc(1, sizeof(*sb));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = 0;

	*out = NULL;
	if (!sb)
		return -ENOMEM;
	sb->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (sb->epoll < 0)
		err = -errno;
	/* Before the rings, so that no CPU comes online unnoticed after its ring failed to open. */
	sb->uevents = err ? -1 : open_uevents(sb->epoll);
	sb->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	sb->rings = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*sb->rings));
	if (!sb->rings)
		err = -ENOMEM;
	for (int cpu = 0; !err && cpu < cpus; cpu++) {
		err = open_ring(sb, cpu, ring_bytes, with_tasks);
		if (err == -ENODEV) /* offline */
			err = 0;
	}
	if (!err && !sb->n_rings)
		err = -ENODEV;
	if (err) {
		sideband_close(sb);
		return err;
	}
	*out = sb;
	return 0;
}

void sideband_close(struct sideband *sb)
{
	if (!sb)
		return;
	for (uint32_t i = 0; i < sb->n_rings; i++) {
		munmap(sb->rings[i].page, sb->page_bytes + sb->rings[i].data_bytes);
		close(sb->rings[i].fd);
	}
	if (sb->uevents >= 0)
		close(sb->uevents);
	if (sb->epoll >= 0)
		close(sb->epoll);
	free(sb->rings);
	free(sb->items);
	free(sb->bytes);
	free(sb);
}

uint64_t sideband_lost(const struct sideband *sb)
{
	return sb->lost;
}

int sideband_epoll(const struct sideband *sb)
{
	return sb->epoll;
}

bool sideband_wait(struct sideband *sb, int timeout_ms, bool *others)
{
	struct epoll_event some[64];
	int n = epoll_wait(sb->epoll, some, 64, timeout_ms);

	*others = false;
	for (int i = 0; i < n; i++)
		*others |= some[i].data.u32;
	return n > 0;
}

/* Makes room in the batch for one more record of size bytes. */
static bool reserve(struct sideband *sb, size_t size)
{
	if (!GROW(sb->items, sb->n_items, sb->cap_items))
		return false;
	if (sb->cap - sb->len < size) {
		size_t cap = (sb->cap + size) * 2;
		uint8_t *bytes = realloc(sb->bytes, cap);

		if (!bytes)
			return false;
		sb->bytes = bytes;
		sb->cap = cap;
	}
	return true;
}

/* Copies size bytes at position `at` of the ring, which wraps at its end. */
static void copy_out(const struct ring *r, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)r->page + r->page->data_offset;
	size_t from = (size_t)(at & (r->data_bytes - 1)), first = r->data_bytes - from;

	if (first > size)
		first = size;
	memcpy(to, data + from, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/*
 * The time of the record of h.size bytes at position `at`: its last word. But in a ksymbol record
 * h.size may be wrong: the kernel adds the size of the time for each reader of the event and does
 * not take it back (perf_event_ksymbol_output()), so the second reader's record claims a word more
 * than was written. There the time is found after the name, which is padded with zeros.
 */
static uint64_t time_of(const struct ring *r, uint64_t at, const struct perf_event_header *h)
{
	size_t offset = h->size - sizeof(uint64_t), next = sizeof(struct body_ksymbol);
	uint64_t time_ns;
	char name[8];

	if (h->type == PERF_RECORD_KSYMBOL) {
		do {
			if (next + sizeof(name) > offset)
				break;
			copy_out(r, at + next, name, sizeof(name));
			next += sizeof(name);
		} while (name[sizeof(name) - 1]);
		offset = next <= offset ? next : offset;
	}
	copy_out(r, at + offset, &time_ns, sizeof(time_ns));
	return time_ns;
}

/*
 * Copies the ring's records up to until_ns into the batch. Later ones stay in the ring: their
 * causes may be in other rings, whose heads were read earlier.
 */
static void take_ring(struct sideband *sb, struct ring *r, uint64_t until_ns)
{
	/* Acquire and release pair with the kernel's perf_output_put_handle() and its read of
	 * data_tail. */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail, start = tail;

	while (head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		uint64_t time_ns;

		copy_out(r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) + sizeof(time_ns) || h.size > head - tail) {
			tail = head; /* corrupt: skip everything */
			break;
		}
		time_ns = time_of(r, tail, &h);
		if (time_ns > until_ns)
			break;
		if (reserve(sb, h.size)) {
			copy_out(r, tail, sb->bytes + sb->len, h.size);
			sb->items[sb->n_items++] = (struct batch_item) { time_ns, sb->len };
			sb->len += (h.size + 7u) & ~(size_t)7;
			if (sb->len > sb->cap)
				sb->len = sb->cap;
		} else {
			sb->lost++;
		}
		tail += h.size;
	}
	if (tail != start)
		__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int compare_items(const void *a, const void *b)
{
	const struct batch_item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset; /* keeps one CPU's order */
}

/*
 * The string from s to the record's time. The kernel has terminated and padded it; this makes sure.
 */
static const char *terminated(uint8_t *record, char *s)
{
	struct perf_event_header *h = (struct perf_event_header *)record;
	char *end = (char *)record + h->size - sizeof(uint64_t);

	if (s >= end)
		return "";
	end[-1] = '\0';
	return s;
}

static bool has_size(const struct perf_event_header *h, size_t fixed)
{
	return h->size >= fixed + sizeof(uint64_t);
}

/* Decodes a raw record into r. False: it is not for the handler. */
static bool decode(struct sideband *sb, uint8_t *raw, struct sideband_record *r)
{
	struct perf_event_header *h = (struct perf_event_header *)raw;
	struct body_mmap2 *m = (struct body_mmap2 *)raw;
	struct body_task *t = (struct body_task *)raw;
	struct body_comm *c = (struct body_comm *)raw;
	struct body_ksymbol *k = (struct body_ksymbol *)raw;
	struct body_lost *l = (struct body_lost *)raw;

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		if (!has_size(h, sizeof(*m)) || m->pid == UINT32_MAX) /* -1: a kernel module */
			return false;
		r->kind = SIDEBAND_MMAP;
		r->tgid = m->pid;
		r->tid = m->tid;
		r->addr = m->addr;
		r->len = m->len;
		r->pgoff = m->pgoff;
		r->maj = m->maj;
		r->min = m->min;
		r->ino = m->ino;
		r->generation = (uint32_t)m->ino_generation;
		r->name = terminated(raw, m->filename);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (!has_size(h, sizeof(*t)))
			return false;
		r->kind = h->type == PERF_RECORD_FORK ? SIDEBAND_FORK : SIDEBAND_EXIT;
		r->tgid = t->pid;
		r->tid = t->tid;
		r->parent = t->ppid;
		return true;
	case PERF_RECORD_COMM:
		if (!has_size(h, sizeof(*c)) || !(h->misc & PERF_RECORD_MISC_COMM_EXEC))
			return false;
		r->kind = SIDEBAND_EXEC;
		r->tgid = c->pid;
		r->tid = c->tid;
		r->name = terminated(raw, c->comm);
		return true;
	case PERF_RECORD_KSYMBOL:
		if (!has_size(h, sizeof(*k)))
			return false;
		r->kind = k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? SIDEBAND_KSYMBOL_GONE
									  : SIDEBAND_KSYMBOL;
		r->addr = k->addr;
		r->len = k->len;
		r->name = terminated(raw, k->name);
		return true;
	case PERF_RECORD_LOST:
		if (has_size(h, sizeof(*l)))
			sb->lost += l->lost;
		return false;
	default:
		return false;
	}
}

/*
 * Turns the event of a CPU on again (cpu < 0: of all CPUs). When a CPU goes offline the kernel
 * turns its event off, and does not turn it on when the CPU is back; no capability is needed for
 * that. A CPU that was offline at the beginning has no event, and the capability to open one has
 * been dropped. In both cases it is not known how many records were lost, so this counts as one
 * loss.
 */
static void revive(struct sideband *sb, int cpu)
{
	sb->lost++;
	for (uint32_t i = 0; i < sb->n_rings; i++)
		if (sb->rings[i].cpu == cpu || cpu < 0)
			ioctl(sb->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Reports that something happened to a module since the messages were last read. */
static void tell(const struct sideband *sb, enum sideband_kind kind, const char *module,
		 sideband_handler handler, void *ctx)
{
	struct sideband_record r = {
		.kind = kind,
		.from_ns = sb->heard_ns,
		.time_ns = clock_now_ns(),
		.name = module,
	};

	handler(ctx, &r);
}

static void take_uevents(struct sideband *sb, sideband_handler handler, void *ctx)
{
	static const char added[] = "add@/module/", gone[] = "remove@/module/";
	char text[4096];

	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(sb->uevents, text, sizeof(text) - 1, 0,
				     (struct sockaddr *)&from, &len);
		int cpu;

		if (n < 0 && errno == ENOBUFS)
			revive(sb, -1); /* some messages were lost */
		else if (n <= 0)
			return;
		if (n <= 0 || from.nl_pid) /* other programs send, too */
			continue;
		text[n] = '\0';
		if (!strncmp(text, added, strlen(added)))
			tell(sb, SIDEBAND_MODULE, text + strlen(added), handler, ctx);
		else if (!strncmp(text, gone, strlen(gone)))
			tell(sb, SIDEBAND_MODULE_GONE, text + strlen(gone), handler, ctx);
		else if (sscanf(text, "online@/devices/system/cpu/cpu%d", &cpu) == 1)
			revive(sb, cpu);
	}
}

uint64_t sideband_poll(struct sideband *sb, sideband_handler handler, void *ctx)
{
	uint64_t until_ns = clock_now_ns();

	if (sb->uevents >= 0)
		take_uevents(sb, handler, ctx);
	sb->n_items = 0;
	sb->len = 0;
	for (uint32_t i = 0; i < sb->n_rings; i++)
		take_ring(sb, &sb->rings[i], until_ns);
	if (sb->n_items)
		qsort(sb->items, sb->n_items, sizeof(*sb->items), compare_items);
	for (size_t i = 0; i < sb->n_items; i++) {
		struct sideband_record r = { .time_ns = sb->items[i].time_ns, .name = "" };

		if (decode(sb, sb->bytes + sb->items[i].offset, &r))
			handler(ctx, &r);
	}
	/* The lost records may have been of kernel code: report that any may be gone. */
	if (sb->lost != sb->told_lost)
		tell(sb, SIDEBAND_MODULE_GONE, "", handler, ctx);
	sb->told_lost = sb->lost;
	sb->heard_ns = until_ns;
	return until_ns;
}
