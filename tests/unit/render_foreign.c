// SPDX-License-Identifier: GPL-2.0-or-later
// What is no folded stacks is known by its first bytes; what is odd but folded is not taken for
// that.
#include "test.h"

#include <string.h>

#include "foreign.h"

#define BYTES(text) text, sizeof(text) - 1

TEST(other_files_are_known_and_the_command_for_them_is_named)
{
	static const struct {
		const char *p;
		size_t len;
		const char *what, *how;
	} files[] = {
		{ BYTES("PERFILE2h\0\0\0\0\0\0\0"), "recording of perf",
		  "chainwalk FILE | flamegraph" },
		{ BYTES("CLB1\1\1\0\0\235\0\0\0"), "trace of chaincap",
		  "chainwalk FILE | flamegraph" },
		{ BYTES("go 1.23 trace\0\0\0"), "trace of Go", "chainwalk FILE | flamegraph" },
		{ BYTES("\x1f\x8b\x08\0\0\0"), "gzip", "gzip -dc FILE | flamegraph" },
		{ BYTES("\xfd"
			"7zXZ\0"),
		  "xz", "xz -dc FILE | flamegraph" },
		{ BYTES("\x28\xb5\x2f\xfd\x24"), "zstd", "zstd -dc FILE | flamegraph" },
		{ BYTES("BZh91AY&SY"), "bzip2", "bzip2 -dc FILE | flamegraph" },
		{ BYTES("\x04\x22\x4d\x18"), "lz4", "lz4 -dc FILE | flamegraph" },
		{ BYTES("PK\3\4\24"), "ZIP", "unzip -p FILE | flamegraph" },
		{ BYTES("\n\4\10\1\20\2\n\4\10\3\20\4"), "pprof", "go tool pprof -raw FILE" },
		{ BYTES("PeriodType: cpu nanoseconds\nPeriod: 10\n"), "pprof -raw",
		  "stackcollapse-go.pl" },
		{ BYTES("{\"a\": 3}"), "JSON", "folded stacks" },
		{ BYTES(" \n[\n {\"a\": 3\n}\n]\n"), "JSON", "folded stacks" },
		{ BYTES("{\"$schema\":\"https://www.speedscope.app/x.json\"}"), "speedscope",
		  "speedscope.app" },
		{ BYTES("<?xml version=\"1.0\"?>\n<svg width=\"1200\">"), "picture",
		  "folded stacks" },
		{ BYTES("\n<svg version=\"1.1\">"), "picture", "folded stacks" },
		{ BYTES("<!DOCTYPE html>\n<p>10"), "page", "browser" },
		{ BYTES("\xef\xbb\xbf<HTML>\n"), "page", "browser" },
		{ BYTES("\xff\xfe"
			"a\0;\0b\0 \0003\0"),
		  "UTF-16", "iconv -f UTF-16" },
		{ BYTES("a;b 3\rc 4\r"), "CR alone", "tr " },
		{ BYTES("\1\0\0\0\2\0\0\0abc 3\n"), "binary", "folded stacks" },
		{ BYTES("# captured on: today\n#\nperf   977/977   [000] 7628263.042515: cycles: \n"
			"\tffffffff8104f45a native_write_msr_safe ([kernel.kallsyms])\n"
			"\tffffffff8102f8bc intel_pmu ([kernel.kallsyms])\n\n"),
		  "perf script", "stackcollapse-perf.pl" },
		{ BYTES("java 19983 cycles:\nffffffff8103d0ca f ([kernel.kallsyms])\n"),
		  "perf script", "perf.pl" },
		{ BYTES("'trace' not valid for hardware events. Ignoring.\n"
			"    swapper/0     0 [000] 864000.000010000:             "
			"sched:sched_switch: prev_comm=A\n"
			"\tffffffff81399969 schedule+0x29 ([kernel.kallsyms])\n"),
		  "perf script", "chainwalk FILE" },
		{ BYTES("  a  101 [000] 1.000010: sched:sched_waking: comm=b pid=1 prio=120 "
			"target_cpu 000\n"
			"  a  101 [000] 1.000020: probe:x: (12) n= 5\n"),
		  "perf script", "chainwalk FILE" },
		{ BYTES("Attaching 1 probe...\n\n@[\n    schedule+41\n]: 10\n"), "bpftrace",
		  "stackcollapse-bpftrace.pl" },
		{ BYTES("CPU     ID                    FUNCTION:NAME\n  0  64091  :tick-60s\n"),
		  "DTrace", "stackcollapse.pl" },
		{ BYTES("2026-01-01 10:00:00\nFull thread dump OpenJDK 64-Bit\n"), "jstack",
		  "stackcollapse-jstack.pl" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const struct foreign *is = foreign_find(files[i].p, files[i].len);

		if (!is || !strstr(is->what, files[i].what) || !strstr(is->how, files[i].how))
			fail_msg("file %zu (%.20s): expected %s, %s; got %s, %s", i, files[i].p,
				 files[i].what, files[i].how, is ? is->what : "folded stacks",
				 is ? is->how : "");
	}
}

TEST(odd_folded_stacks_are_not_taken_for_others)
{
	static const char *const texts[] = {
		"",
		"\n",
		"a 1",
		"a;b 1\r\nc 2\r\n",
		("\xef\xbb\xbf"
		 "a;b 1\n"),
		"# interval: 10000\na;b 3\n",
		"go 1.5\n",
		"go 1.23;trace 4\n",
		"PERF;main 3\n",
		"CLB1;x 3\n",
		"BZh;main 3\n",
		"{closure};x 1\n",
		"[unknown];f 2\n",
		"[[stack]];f 2\n",
		"[note] text 0\n",
		"<module>;f 3\n",
		"<frozen importlib>;g 1\n",
		"@start;x 1\n",
		"\t 3\n",
		"swapper/0;ffffffff81399969 schedule (x) 3\n",
		"cycles:;abc f (y) 4\n",
		"a;at 12.345678: b 3\n",
		"perf:\nabcdef;main (x) 3\n",
		"a;\1\2\3 4\n",
		"all;100 % 3\n",
		"\xff;a 1\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct foreign *is = foreign_find(texts[i], strlen(texts[i]));

		if (is)
			fail_msg("%s: taken for %s", texts[i], is->what);
	}
}
