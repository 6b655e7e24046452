// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes small traces into a folder, as seeds for fuzz_trace: each begins with the byte that the
 * target takes as its switches. The seeds are in the tree (tests/fuzz/corpus/trace); this makes
 * them anew when the format changes.
 */
#include <stdio.h>

#include "../unit/synth.h"
#include "common/event_block.h"

static int save(const char *dir, const char *name, int flags, struct synth *m)
{
	char path[4096];
	uint8_t *bytes;
	size_t len;
	FILE *f;
	int ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f) {
		perror(path);
		return 1;
	}
	bytes = synth_bytes(m, &len);
	ok = putc(flags, f) != EOF && fwrite(bytes, 1, len, f) == len;
	if (fclose(f) || !ok) {
		perror(path);
		return 1;
	}
	return 0;
}

/* A relay: a waits for b, b for c, c for an interrupt. */
static struct synth *relay(void)
{
	struct synth *m = synth_new();

	synth_thread(m, 10, "a");
	synth_thread(m, 11, "b");
	synth_thread(m, 12, "c");
	synth_switch(m, 0, 100, 10, 'S', 0, "schedule;futex");
	synth_switch(m, 1, 110, 11, 'S', 12, "schedule;pipe_read");
	synth_switch(m, 1, 120, 12, 'D', 0, "schedule;io_schedule");
	synth_waking(m, 1, 500, 0, 12, "try_to_wake_up;bio_endio;asm_common_interrupt;idle");
	synth_switch(m, 1, 505, 0, 'R', 12, "");
	synth_waking(m, 1, 700, 12, 11, "try_to_wake_up;pipe_write");
	synth_switch(m, 1, 710, 12, 'R', 11, "schedule");
	synth_waking(m, 1, 900, 11, 10, "try_to_wake_up;futex_wake");
	synth_switch(m, 0, 930, 0, 'R', 10, "");
	synth_lost(m, 1, 3, 940, 950);
	synth_switch(m, 0, 960, 10, 'X', 0, "schedule;do_exit");
	synth_end(m, 1000);
	return m;
}

/* Two threads that wake each other, in many blocks, then cut off. */
static struct synth *ping_pong(void)
{
	struct synth *m = synth_new();

	for (uint32_t i = 0; i < 20; i++) {
		uint32_t self = 20 + i % 2, peer = 20 + (i + 1) % 2;

		synth_waking(m, 0, 100 * i + 10, self, peer, "wake;write");
		synth_switch(m, 0, 100 * i + 20, self, 'S', peer, "schedule;read");
		if (i % 5 == 4)
			synth_flush(m);
	}
	return m;
}

/* Impossible payloads behind right checksums. */
static struct synth *odd(void)
{
	static const uint8_t many[] = { 1, 0xff, 0xff, 0xff, 0x7f, 1, 'x' };
	static const uint8_t events[] = { 0, 20, 30, 2, 0x48, 0, 1, 2 };
	struct synth *m = synth_new();

	synth_flush(m);
	for (unsigned int type = CHAINLOG_BLOCK_STRINGS; type <= CHAINLOG_BLOCK_LOST; type++)
		synth_add_block(m, type, many, sizeof(many));
	synth_add_block(m, CHAINLOG_BLOCK_EVENTS, events, sizeof(events));
	synth_add_block(m, 77, "", 0);
	return m;
}

/* Samples of a thread that another one waits for, and a kind that nobody knows. */
static struct synth *samples(void)
{
	static const uint8_t unknown[] = { 0, 20, 30, 2, 20, 0, 2, 1, 2, 0, 30, 3, 10, 0, 0 };
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 0, 'R', 11, "");
	synth_switch(m, 1, 20, 10, 'S', 0, "schedule;futex");
	for (uint32_t i = 0; i < 6; i++)
		synth_ran(m, 0, 30 + 10 * i, 11, i % 2 ? "copy;read" : "", "work;main");
	synth_waking(m, 0, 100, 11, 10, "try_to_wake_up;futex_wake");
	synth_add_block(m, CHAINLOG_BLOCK_AUX_EVENTS, unknown, sizeof(unknown));
	synth_end(m, 200);
	return m;
}

/* A thread that waits for a CPU, is moved, and is throttled. */
static struct synth *queues(void)
{
	struct synth *m = synth_new();

	synth_info(m, &(struct chainlog_info) { .cpus = 2, .aux = 1u << CHAINLOG_QUEUE });
	synth_switch(m, 0, 10, 0, 'R', 10, "");
	synth_switch(m, 1, 10, 0, 'R', 11, "");
	synth_switch(m, 0, 20, 10, 'S', 12, "schedule;futex");
	synth_waking(m, 1, 40, 11, 10, "try_to_wake_up;futex_wake");
	synth_queued(m, 1, 40, 10, 0, true);
	synth_queued(m, 0, 60, 10, 1, false);
	synth_switch(m, 1, 70, 11, 'S', 10, "schedule;futex");
	synth_switch(m, 1, 80, 10, 'R', 0, "schedule");
	synth_throttled(m, 1, 80, 10);
	synth_switch(m, 1, 90, 0, 'R', 10, "");
	synth_end(m, 200);
	return m;
}

/* A thread that waits for a disk, which an interrupt says is done; some that are missing. */
static struct synth *disks(void)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 0, 'R', 11, "");
	synth_switch(m, 1, 10, 0, 'R', 10, "");
	synth_asks_disk(m, 1, 15, 10, "submit_bio;read", "load;main");
	synth_switch(m, 1, 20, 10, 'D', 0, "schedule;io_schedule;read");
	synth_disk_done(m, 0, 90, 10, &(struct synth_disk_done) { "vda", 0, 4096, 15, 40 });
	synth_waking(m, 0, 95, 11, 10, "wake;bio_endio;blk_update_request;asm_common_interrupt;f");
	synth_switch(m, 1, 100, 0, 'R', 10, "");
	synth_disk_done(m, 0, 110, 0, &(struct synth_disk_done) { "vg-root", 7, 0, 0, 0 });
	encoder_aux_lost(synth_encoder(m), 0, EVENT_DISK_DONE, 3, 120, 130);
	synth_end(m, 200);
	return m;
}

/* Requests: one that waits in the queue while another one is served, one in parts, one that is
 * open. */
static struct synth *requests(void)
{
	struct synth_request r = { .class = "tcp",
				   .name = ":80",
				   .connection = 1,
				   .flags = CHAINLOG_REQUEST_FIRST,
				   .reader = 10,
				   .arrival_ns = 20,
				   .taken_ns = 30,
				   .answer_ns = 60,
				   .bytes_read = 7,
				   .bytes_written = 9,
				   .kstack = "send;sock_sendmsg",
				   .ustack = "answer;serve%/srv/a.py:7;eval@python;main" };
	struct synth *m = synth_new();

	synth_info(m, &(struct chainlog_info) {
			      .cpus = 2, .aux = 1u << CHAINLOG_REQUEST, .light_ns = 1000 });
	synth_switch(m, 0, 10, 0, 'R', 10, "");
	synth_switch(m, 1, 10, 0, 'R', 11, "");
	synth_request(m, 0, 60, 10, &r);
	synth_not_sent(m, 0, 60, 10);
	synth_tcp_timer(m, 0, 60, 10, CHAINLOG_TCP_RETRANSMIT, 20, 50);
	synth_slept_at(m, 1, 60, 11, "schedule;read", "read;main");
	synth_stacks_from(m, 1, 60, true, UINT64_MAX);
	synth_work(m, 1, 60, 11, 1, 10, 20, "queue_work", "write;main");
	synth_stream(m, 0, 60, 10, UINT32_MAX, 4711, "10.0.0.1:40000<10.0.0.2:80");
	r.connection = 2;
	r.flags = CHAINLOG_REQUEST_PIPELINED | CHAINLOG_REQUEST_UNSENT;
	r.arrival_ns = 25;
	r.taken_ns = 65;
	r.answer_ns = 80;
	synth_request(m, 1, 85, 11, &r);
	r.first_ns = 80;
	r.answer_ns = 120;
	synth_request_more(m, 0, 130, 10, &r);
	synth_switch(m, 0, 135, 10, 'S', 0, "schedule;recv");
	r.class = "unix";
	r.name = "/run/s";
	synth_request_open(m, 0, 140, &r);
	encoder_aux_lost(synth_encoder(m), 0, EVENT_REQUEST, 3, 150, 160);
	synth_end(m, 200);
	return m;
}

/* Interrupts of a thread's time and of the idle loop's, some without a switch, some impossible. */
static struct synth *interrupts(void)
{
	struct synth *m = synth_new();

	synth_info(m, &(struct chainlog_info) {
			      .cpus = 2, .aux = 1u << CHAINLOG_QUEUE | 1u << CHAINLOG_INTERRUPTS });
	synth_switch(m, 0, 10, 0, 'R', 10, "");
	synth_taken(m, 0, 10, false, 3);
	synth_switch(m, 0, 30, 10, 'R', 11, "");
	synth_taken(m, 0, 30, false, 7);
	synth_taken(m, 0, 30, false, 7);
	synth_taken(m, 1, 35, false, 7);
	synth_switch(m, 0, 40, 11, 'S', 10, "schedule");
	synth_taken(m, 0, 40, false, UINT64_MAX);
	encoder_aux_lost(synth_encoder(m), 0, EVENT_INTERRUPTS, 3, 50, 60);
	synth_end(m, 100);
	return m;
}

static uint32_t object(struct synth *m, const char *class, const char *name, const char *own,
		       uint32_t peer, uint32_t owner)
{
	return encoder_object(
		synth_encoder(m),
		&(struct encoder_object) {
			.class = class, .name = name, .own = own, .peer = peer, .owner = owner });
}

static void waits_for(struct synth *m, uint64_t ns, uint32_t object)
{
	struct event ev = { .time_ns = ns, .kind = EVENT_WAITS_FOR, .awaited = { object } };

	encoder_event(synth_encoder(m), &ev);
}

/*
 * What threads wait for: both ends of a connection, a pipe, a set of which one is ready, one that
 * is never defined; and items that are longer or shorter than they say.
 */
static struct synth *objects(void)
{
	static const uint8_t longer[] = { 20, 2, 7, 1, 2, 3, 4, 5, 6, 7, 2, 1, 2 };
	static const uint8_t shorter[] = { 30, 1, 3, 1, 2 };
	struct synth *m = synth_new();
	uint32_t client = object(m, "tcp", "127.0.0.1:80", "tcp 127.0.0.1:4000", 0, 10);

	object(m, "poll", "tcp 127.0.0.1:4000", "tcp 127.0.0.1:80", 0, 11);
	object(m, "udp", ":53", "udp 0.0.0.0:53", 0, 11);
	synth_thread_full(m, &(struct encoder_thread) {
				     .tid = 12,
				     .tgid = 12,
				     .state = 'S',
				     .name = encoder_text(synth_encoder(m), "asleep"),
				     .object = object(m, "unix", "/run/x;y", "", 11, 0),
			     });
	synth_switch(m, 0, 10, 0, 'R', 10, "");
	synth_switch(m, 1, 10, 0, 'R', 11, "");
	synth_switch(m, 0, 20, 10, 'S', 0, "schedule;tcp_recvmsg");
	waits_for(m, 20, client);
	synth_waking(m, 1, 40, 11, 10, "try_to_wake_up;sock_def_readable");
	synth_switch(m, 0, 50, 0, 'R', 10, "");
	synth_switch(m, 0, 60, 10, 'S', 0, "schedule;ep_poll");
	synth_waits_for(m, 0, 60, "epoll", "10:5");
	synth_holder(m, 0, 60, 10, 11);
	synth_waking(m, 1, 70, 11, 10, "try_to_wake_up;ep_poll_callback");
	synth_ready(m, 1, 70, 10, "pipe", "12");
	synth_switch(m, 0, 80, 0, 'R', 10, "");
	synth_switch(m, 0, 90, 10, 'D', 0, "schedule;pipe_read");
	waits_for(m, 90, encoder_object_reserve(synth_encoder(m)));
	synth_waking(m, 1, 95, 11, 10, "try_to_wake_up;pipe_write");
	synth_ready(m, 1, 95, 10, "pipe", "12");
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_OBJECTS, longer, sizeof(longer));
	synth_add_block(m, CHAINLOG_BLOCK_OBJECTS, shorter, sizeof(shorter));
	synth_add_block(m, CHAINLOG_BLOCK_THREAD_OBJECTS, (const uint8_t[]) { 2, 12, 1, 99, 9 }, 5);
	synth_add_block(m, CHAINLOG_BLOCK_THREAD_HOLDERS, (const uint8_t[]) { 2, 12, 10, 99, 9 },
			5);
	synth_group(m, 0, 95, 10, "/system.slice/a.service", true);
	synth_group(m, 0, 96, 11, "/b", false);
	synth_unthrottled(m, 0, 97, 11, 60, 70, "/b");
	synth_unthrottled(m, 0, 98, 11, 80, 90, "deadline");
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_THREAD_GROUPS, (const uint8_t[]) { 2, 12, 1, 99, 9 }, 5);
	synth_add_block(m, CHAINLOG_BLOCK_THREAD_OWN_IDS, (const uint8_t[]) { 2, 12, 1, 99, 9 }, 5);
	MUST(!encoder_process_note(synth_encoder(m), 12, "java", "frames are missing", "-XX"));
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_NOTES, (const uint8_t[]) { 1, 5, 12, 1, 2, 0, 9 }, 7);
	synth_end(m, 100);
	return m;
}

int main(int argc, char **argv)
{
	struct {
		const char *name;
		struct synth *m;
	} seeds[] = {
		{ "sample", synth_sample() }, { "relay", relay() },
		{ "ping-pong", ping_pong() }, { "odd", odd() },
		{ "samples", samples() },     { "queues", queues() },
		{ "disks", disks() },	      { "objects", objects() },
		{ "requests", requests() },   { "interrupts", interrupts() },
	};
	int failed = argc != 2;

	if (failed)
		fputs("usage: seed_trace FOLDER\n", stderr);
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		if (!failed)
			failed = save(argv[1], seeds[i].name, 1 + 2 * (int)(i % 2), seeds[i].m);
		synth_free(seeds[i].m);
	}
	return failed;
}
