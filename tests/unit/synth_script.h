/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth_script.h - traces written down as lines of text, so that a test shows what happened:
 *
 *	thread A S wait;main        it was there at the start: state, its kernel stack (optional);
 *	                            S@30: it was looked at at 30; *: it was on a CPU;
 *	                            S/P: it is a thread of P's process; S+: the kernel's
 *	100 c0 A S > B recv;main    at 100 us on CPU 0, A goes to sleep and B comes on; A's stack
 *	100 c0 A S > B recv for=tcp:peer:80  for what: class, and name (optional; ~: a space); of
 *	                            tcp, "<10.0.0.1:40000" behind it: its own end, and "@102"
 *	                            before that the process at the other one
 *	900 c0 B wakes A wake;work  the waker's stack; "new" instead of "wakes": its first run
 *	900 c0 B wakes! A           A was off its run queue
 *	900 c0 - woken A            A was woken by somebody not known
 *	910 c0 B forks C            and: B execs /bin/ls -l (optional), B execs-as A (B takes A's
 *	                            tid), B exits, B renames-to foo
 *	920 c0 B ran copy;read|main it was running, and is sampled
 *	150 c0 A queued c1          A was put on the queue of CPU 1; "queued!": by its waking
 *	150 c0 A throttled          A may not run: a quota is used up
 *	300 c0 A unthrottled 150 250 /a.service  A, which comes on the CPU then, could not run from
 *	                            150 until 250: this group's quota was used up; or "deadline",
 *	                            "realtime"; nothing: not known whose
 *	150 c0 A held-by B          A, switched out then, sleeps at a lock that says that B has it
 *	150 c0 A in-group /a.service  A, or with "all-in-group" its process, is in a control group
 *	150 c0 interrupts 12        they took 12 us up to the switch at that time
 *	150 c0 recorder 30          the recorder had the CPU for 30 us up to then
 *	150 c0 A asks-disk sub|main A asks a device for something
 *	160 c0 A disk-done vda read 4096 150 155  what A, or -, asked for at 150 and the device got
 *	                            at 155 is done; -: not known when
 *	160 c0 A disk-done vda write 4096 150 155 /a.service  A, a worker, asked for this group
 *	150 c0 lost-disk-dones 180  of these some are missing
 *	900 c0 A request tcp::80 conn=7 arrived=100 taken=300 answered=890 by=B first read=5 wrote=9
 *	                            A answers a request that arrived at 100 and that B (else A) read
 *	                            at 300, on connection 7 (else 0). All but the endpoint may be
 *	                            missing, in any order; times are the event's then. Marks: first,
 *	                            pipelined, old, unsent, no-arrival, stream, probed (of which
 *	                            label=TEXT may be known); stack=send;work|main;
 *	                            route=GET+/cart, with + for blanks
 *	                            others=7: seven others like it are not told
 *	950 c0 A request-more conn=7 began=900 answered=940 wrote=90  it wrote more
 *	990 c0 B request-open tcp::80 conn=7 arrived=950 taken=960    nobody answered it
 *	150 c0 lost-requests 180    some are missing; "lost-more": of request-more
 *	300 c0 A context c0ffee 7 /cart  it works for this trace id and span id (hexadecimal), and
 *	                            route; -: none; "lost-contexts 180": some are missing
 *	900 c0 W works-on B 300 queue_work|main  what worker W executes was queued by B (-: an
 *	                            interrupt of the idle loop) at 300, with that stack (optional);
 *	                            "?" instead of B: not known, begun at 300; "nothing" ends it;
 *	                            "lost-work 180": some are missing
 *	900 c0 A stream 7 9         A, woken then, had waited for a TCP connection of which byte 7
 *	                            is written next, and byte 9 expected
 *	900 c0 A stream 7 9 10.0.0.1:40000<10.0.0.2:80  the answer of the request before begins with
 *	                            byte 7, the request with byte 9; the peer, and the own end
 *	900 c0 A ready tcp:peer:80  of several things this one ended A's wait
 *	900 c0 A slept-at schedule;read|main  with these stacks A sleeps, or slept until then
 *	900 c0 A not-sent           who woke A had not sent what A got; "lost-not-sent 900": some
 *	                            are missing
 *	900 c0 A tcp-timer 1 150 890  what A got a timer of TCP had put off from 150 to 890: 1: a
 *	                            delayed ack, 2: a retransmit, 3: as an accept queue was full
 *	150 c0 lost-queues 180      changes of queues are missing in [150, 180]
 *	150 c0 lost-groups 180      likewise moves to other control groups
 *	950 c1 lost 980             events of that CPU are missing in [950, 980]; "c?": of any
 *	end 1000
 *
 * A first line "light 300" says that sleeps of less than 300 need not have user stacks.
 * A line "quotas" says that it is recorded until when quotas are used up. A first line "queues"
 * says that changes of queues are recorded, "queues interrupts" interrupts,
 * too; "queues interrupts A" that A is the command that the recorder started; "others-are foo"
 * gives all threads but A and B one name. Times are microseconds, with up to three decimals.
 * Threads are capital letters, '-' is the idle loop; each thread that is not declared was there at
 * the start, runnable somewhere, and is called by its letter; "born X" declares one that was not.
 * Stacks are the kernel's, leaf first, with '~' for spaces; a '|' begins the user's part; a frame
 * "copy@liba" is copy of the file /lib/liba, "mirror%/srv/feed.py:31" interpreted code (see
 * synth.h). A's tid is 101, B's 102...
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"
#include "synth.h"

/* The script as a trace; a line that makes no sense aborts the test. To be freed by synth_free().
 */
struct synth *script_made(const char *script);

/* A waits for B, which waits for an interrupt that hits C; then A is preempted, and sleeps on. */
extern const char script_chain[];

/* A waits 1.999, 2 and 3 us, B 9 us. */
extern const char script_lengths[];

/* S answers a request at 250, for which a context is known, one at 900, and runs f from 910 on. */
extern const char script_requests[];

/* The usual options, but one thread only: 101 is A. Two of different parity may be in use at once.
 */
struct options script_options(uint32_t tid);

/* What chainwalk makes of it, or of any trace: folded lines. To be freed. */
char *script_folded(const char *script, const struct options *o);
char *trace_folded(const struct trace *t, const struct options *o);
/* The output of any format by its name, with a 0 at its end that *len does not count. */
char *script_formatted(const char *script, const struct options *o, const char *format);
char *trace_formatted(const struct trace *t, const struct options *o, const char *format);
char *trace_written(const struct trace *t, const struct options *o, const char *format,
		    size_t *len);

/*
 * A thread's timeline in words, a line for each stretch: "100-900-930 S" is out-wake-in and state,
 * with "preempted", "unknown", and the flags after it; then "lived 0-1000". Times in us.
 */
char *script_timeline(const char *script, char thread);

/* Compares, and prints both sides if they differ. Frees got. */
void expect_text(char *got, const char *expected);
