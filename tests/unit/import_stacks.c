// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call chains as perf script prints them with any choice of fields: the lines of a thread that
 * sleeps, and the stack that is made of them, in folded form.
 */
#include "test.h"
#include <unistd.h>

#include "synth_script.h"
#include "perf_text.h"

static struct perf_text text;

/* A sleeps with this call chain for 10 us. */
static struct import_report expect_stack(const char *lines, const char *expected)
{
	struct text_trace tt;
	struct options o;
	char folded[4096];

	text.len = 0;
	text_line(&text,
		  "A  101 [000]     1.000010000: sched:sched_switch: prev_comm=A prev_pid=101 "
		  "prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 next_prio=120\n%s\n",
		  lines);
	text_line(&text, "B  102 [000]     1.000020000: sched:sched_switch: prev_comm=B "
			 "prev_pid=102 prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 "
			 "next_prio=120\n\n");
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	options_init(&o);
	o.tids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	snprintf(folded, sizeof(folded), "A;%s;[not woken] 10\n", expected);
	expect_text(trace_folded(tt.trace, &o), folded);
	text_close(&tt);
	return tt.report;
}

TEST(each_choice_of_fields)
{
	static const struct {
		const char *what, *lines, *stack;
	} stacks[] = {
		{ "the default",
		  "\tffffffff81f8c03f schedule+0x23 ([kernel.kallsyms])\n"
		  "\tffffffff81000130 entry_SYSCALL_64_after_hwframe+0x76 ([kernel.kallsyms])\n"
		  "\t           ee137 read@@GLIBC_2.2.5+0x7 (/usr/lib/libc.so.6)\n"
		  "\t          146f2c main+0x10 (/usr/bin/prog)\n",
		  "main;read@@GLIBC_2.2.5;-;entry_SYSCALL_64_after_hwframe;schedule" },
		{ "ip,sym,dso without symoff",
		  "\tffffffff81f8c03f schedule ([kernel.kallsyms])\n"
		  "\t           ee137 read (/usr/lib/libc.so.6)\n",
		  "read;-;schedule" },
		{ "ip,sym without dso: by address",
		  "\tffffffff81f8c03f schedule\n"
		  "\t           ee137 operator()(int, char*)\n",
		  "operator()(int, char*);-;schedule" },
		{ "ip,dso without sym",
		  "\tffffffff81f8c03f ([kernel.kallsyms])\n"
		  "\tffffffffc0012345 ([ext4])\n"
		  "\t           ee137 (/usr/lib/libc.so.6)\n",
		  "[libc.so.6];-;[ext4];[unknown]" },
		{ "ip only",
		  "\tffffffff81f8c03f\n"
		  "\t    7f12345ee137\n",
		  "[unknown];-;[unknown]" },
		{ "srcline",
		  "\tffffffff81f8c03f schedule+0x23 ([kernel.kallsyms])\n"
		  "  core.c:6700\n"
		  "\t           ee137 read+0x7 (/usr/lib/libc.so.6)\n"
		  "  read.c:26\n"
		  "\t          146f2c [unknown] (/usr/bin/prog)\n"
		  "  prog[146f2c]\n",
		  "[prog];read;-;schedule" },
		{ "srccode",
		  "\tffffffff81f8c03f schedule+0x23 ([kernel.kallsyms])\n"
		  "\t           ee137 read+0x7 (/usr/lib/libc.so.6)\n"
		  "|26      return SYSCALL_CANCEL (read, fd, buf, nbytes);\n"
		  "\t          146f2c main+0x7 (/usr/bin/prog)\n",
		  "main;read;-;schedule" },
		{ "inlined frames",
		  "\tffffffff81f8c03f context_switch (inlined)\n"
		  "\tffffffff81f8c03f schedule+0x23 ([kernel.kallsyms])\n"
		  "\t          146f2c helper (inlined)\n"
		  "\t          146f2c std::run<int (*)(void)> (inlined)\n"
		  "\t          146f2c main+0x10 (/usr/bin/prog)\n"
		  "\t          246f2c _start (inlined)\n",
		  "_start;main;std::run<int (*)(void)>;helper;-;schedule;context_switch" },
		{ "inlined frames with srcline",
		  "\t          146f2c helper\n  prog.c:7 (inlined)\n"
		  "\t          146f2c main+0x10 (/usr/bin/prog)\n  prog.c:9\n",
		  "main;helper" },
		{ "dsoff",
		  "\tffffffff81f8c03f schedule+0x23 ([kernel.kallsyms]+0x1f8c03f)\n"
		  "\t           ee137 [unknown] (/usr/lib/libc.so.6+0xee137)\n",
		  "[libc.so.6];-;schedule" },
		{ "tabs expanded, carriage returns",
		  "        ffffffff81f8c03f schedule+0x23 ([kernel.kallsyms])\r\n"
		  "                   ee137 read+0x7 (/usr/lib/libc.so.6)\r\n",
		  "read;-;schedule" },
		{ "nothing is known",
		  "\tffffffff81f8c03f [unknown] ([unknown])\n"
		  "\t    7fb2947e6540 [unknown] ([unknown])\n",
		  "[unknown];-;[unknown]" },
		{ "names with spaces and parentheses",
		  "\t          146f2c operator new(unsigned long)+0x1f (/opt/my (new) app/prog)\n"
		  "\t          146f3c <a as b>::c (d)+0x1f (/memfd:x (deleted))\n"
		  "\t          146f4c f(int) (/opt/a b/prog (deleted))\n"
		  "\t          146f5c [unknown] (/tmp/perf-12.map)\n"
		  "\t          146f6c [unknown] (//anon)\n"
		  "\t          146f7c foo+0x1f+0x2f (/x+0x3f (y)\n",
		  "foo+0x1f;[anon];[perf-12.map];f(int);<a as b>::c (d);operator new(unsigned "
		  "long)" },
		{ "in brackets, but the process's",
		  "\tffffffffff600400 vgettimeofday+0x0 ([vsyscall])\n"
		  "\t    7ffd5a3e1a41 __vdso_gettimeofday+0x1 ([vdso])\n"
		  "\t    55d0c0de1000 [unknown] ([heap])\n"
		  "\t    7ffd00001000 [unknown] ([stack])\n",
		  "[stack];[heap];__vdso_gettimeofday;vgettimeofday" },
		{ "kernel modules, by any name",
		  "\tffffffffc0012345 ext4_read+0x1 ([ext4])\n"
		  "\tffffffffc0022345 nf_hook+0x1 (/lib/modules/6.1.0/kernel/net/nf.ko.xz)\n"
		  "\tffffffffc0032345 [unknown] ([tun])\n"
		  "\tffffffff81000130 do_syscall_64+0x1 (/usr/lib/debug/boot/vmlinux-6.1.0)\n"
		  "\t           ee137 read+0x7 (/usr/lib/libc.so.6)\n",
		  "read;-;do_syscall_64;[tun];nf_hook;ext4_read" },
		{ "32 bits",
		  "\tc10aabcd schedule+0x23 ([kernel.kallsyms])\n"
		  "\tf8123456 ext4_read+0x1 ([ext4])\n"
		  "\tb7f01137 read+0x7 (/lib/libc.so.6)\n"
		  "\t0804abcd main+0x7 (/usr/bin/prog)\n",
		  "main;read;-;ext4_read;schedule" },
		{ "a guest's frames are not this kernel's",
		  "\tffffffff81f8c03f schedule+0x23 ([guest.kernel.kallsyms])\n"
		  "\tffffffff81000130 asm_common_interrupt+0x1 ([guest.kernel.kallsyms.77])\n",
		  "asm_common_interrupt;schedule" },
		{ "the tracing's own frames",
		  "\tffffffff81234567 perf_trace_sched_switch+0x23 ([kernel.kallsyms])\n"
		  "\tffffffffc0001234 [unknown] ([unknown])\n"
		  "\tffffffffc0001235 bpf_prog_a9750a127c494253_on_switch+0x5 (bpf_prog_a9750)\n"
		  "\tffffffff81399969 __traceiter_sched_switch+0x41 ([kernel.kallsyms])\n"
		  "\tffffffff81f8c03f __schedule+0x618 ([kernel.kallsyms])\n"
		  "\tffffffffc0001235 bpf_prog_a9750a127c494253_filter+0x5 (bpf_prog_a9750)\n",
		  "bpf_prog_a9750a127c494253_filter;__schedule" },
		{ "compilers' copies of functions",
		  "\tffffffff81234567 perf_trace_run_bpf_submit.constprop.0+0x23 "
		  "([kernel.kallsyms])\n"
		  "\tffffffff81f8c03f schedule_timeout.part.0+0x23 ([kernel.kallsyms])\n",
		  "schedule_timeout.part.0" },
		{ "no frame at all", "", "[unknown stack]" },
		{ "only the tracing's frames",
		  "\tffffffff81399969 __traceiter_sched_switch+0x41 ([kernel.kallsyms])\n",
		  "[unknown stack]" },
		{ "what would split a line",
		  "\t          146f2c a;b+0x1f (/usr/bin/x)\n"
		  "\t          146f3c --+0x1f (/usr/bin/x)\n",
		  "[--];a:b" },
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		print_message("%s\n", stacks[i].what);
		assert_int_equal(expect_stack(stacks[i].lines, stacks[i].stack).bad_lines, 0);
	}
}

TEST(lines_that_are_no_frames)
{
	struct import_report r;

	r = expect_stack("\tffffffff81f8c03f a+0x1 ([kernel.kallsyms])\n"
			 "\tnonsense\n"
			 "\tffffffff81f8c03f1 too many digits\n"
			 "\tffffffff81f8c041 b+0x1 ([kernel.kallsyms])\n",
			 "b;a");
	assert_int_equal(r.bad_lines, 2);
	assert_int_equal(r.bad_line, 3);
}

TEST(bad_lines_count_each_time)
{
	struct text_trace tt;

	text.len = 0;
	for (int i = 0; i < 10; i++)
		text_line(&text,
			  "A  101 [000]     1.00001%d000: sched:sched_switch: prev_comm=A "
			  "prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=A next_pid=101 "
			  "next_prio=120\n\tffffffff81f8c03f a+0x1 ([kernel.kallsyms])\n\tx\n\n",
			  i);
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	assert_int_equal(tt.report.bad_lines, 10);
	assert_int_equal(tt.report.bad_line, 3);
	assert_int_equal(tt.report.lines, 40);
	text_close(&tt);
}

TEST(more_frames_than_fit)
{
	static char lines[32 << 10];
	struct text_trace tt;
	size_t len = 0;

	text.len = 0;
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(lines + len, sizeof(lines) - len,
					"\t          %06x f%d+0x1 (/usr/bin/prog)\n", i, i);
	text_line(&text,
		  "A  101 [000]     1.000010000: sched:sched_switch: prev_comm=A prev_pid=101 "
		  "prev_prio=120 prev_state=S ==> next_comm=B next_pid=102 next_prio=120\n%s\n",
		  lines);
	assert_int_equal(text_open(&tt, text.p, text.len), 0);
	assert_int_equal(trace_stacks_end(tt.trace), 2);
	assert_int_equal(trace_stack(tt.trace, 1).n, CHAINLOG_STACK_MAX);
	assert_true(trace_stack(tt.trace, 1).cut);
	text_close(&tt);
}

/* A text that has all sizes of lines and call chains, some of which are far too long. */
static char *long_text(size_t *len)
{
	size_t cap = 8u << 20, n = 0;
	char *p = malloc(cap);

	assert_non_null(p);
	for (int i = 0; i < 2000; i++) {
		n += (size_t)snprintf(p + n, cap - n,
				      "A  101 [000]     1.%09d: sched:sched_switch: prev_comm=A "
				      "prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=A "
				      "next_pid=101 next_prio=120\n",
				      i);
		for (int k = 0; k < i % 190; k++)
			n += (size_t)snprintf(p + n, cap - n, "\t          %06x f%d+0x1 (/x)\n", k,
					      i % 7 * k);
		if (i % 500 == 499) {
			memset(p + n, 'x', 300000);
			n += 300000;
			p[n++] = '\n';
		}
		p[n++] = '\n';
		if (i % 700 == 699) {
			p[n++] = '\t';
			memset(p + n, 'f', 200000);
			n += 200000;
			p[n++] = '\n';
		}
	}
	*len = n;
	return p;
}

struct pipe_end {
	const char *p;
	size_t len;
	int fd;
};

/* Writes the text in pieces of odd sizes. */
static void feed(const struct pipe_end *e)
{
	size_t at = 0, piece = 1;

	while (at < e->len) {
		size_t n = e->len - at < piece ? e->len - at : piece;
		ssize_t got = write(e->fd, e->p + at, n);

		if (got <= 0)
			_exit(1);
		at += (size_t)got;
		piece = piece * 7 % 65537 + 1;
	}
}

TEST(a_stream_is_read_like_a_file)
{
	struct import_input source = { .fd = -1 };
	struct trace_bytes log[2];
	size_t n;
	struct import_report r[2];
	char *p = long_text(&n);
	int fds[2];

	source.p = (const uint8_t *)p;
	source.len = n;
	assert_int_equal(import_stream(&source, &log[0], &r[0]), 0);
	for (size_t head = 0; head <= 5000; head += 1250) {
		pid_t child;

		assert_int_equal(pipe(fds), 0);
		child = fork();
		if (!child) {
			struct pipe_end e = { p + head, n - head, fds[1] };

			close(fds[0]);
			feed(&e);
			_exit(0);
		}
		close(fds[1]);
		source.len = head;
		source.fd = fds[0];
		assert_int_equal(import_stream(&source, &log[1], &r[1]), 0);
		close(fds[0]);
		assert_int_equal(log[0].len, log[1].len);
		assert_memory_equal(log[0].base, log[1].base, log[0].len);
		assert_memory_equal(&r[0], &r[1], sizeof(r[0]));
		trace_bytes_free(&log[1]);
	}
	assert_int_equal(r[0].switches, 2000);
	assert_true(r[0].bad_lines > 0);
	trace_bytes_free(&log[0]);
	free(p);
}
