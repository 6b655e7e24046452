// SPDX-License-Identifier: GPL-2.0-or-later
/* chaincap's command line. */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "options.h"

#define PARSE(o, ...) parse(o, (char *[]) { "chaincap", __VA_ARGS__, NULL })

static int parse(struct options *o, char **argv)
{
	char why[256];
	int argc = 0;

	while (argv[argc])
		argc++;
	return options_parse(o, argc, argv, why, sizeof(why));
}

TEST(defaults)
{
	struct options o;

	assert_int_equal(parse(&o, (char *[]) { "chaincap", NULL }), 0);
	assert_string_equal(o.output, "trace.bin");
	assert_true(o.kernel_stacks && o.user_stacks);
	assert_int_equal(o.duration_ns, 0);
	assert_null(o.command);
}

TEST(seconds_may_have_decimals)
{
	struct options o;

	assert_int_equal(PARSE(&o, "-o", "x", "0.25"), 0);
	assert_int_equal(o.duration_ns, 250000000);
	assert_string_equal(o.output, "x");
	assert_int_equal(PARSE(&o, "10"), 0);
	assert_int_equal(o.duration_ns, 10000000000u);
}

TEST(a_command_keeps_its_own_options)
{
	struct options o;

	assert_int_equal(PARSE(&o, "-K", "--", "ls", "-U", "--help"), 0);
	assert_true(o.kernel_stacks && !o.user_stacks);
	assert_string_equal(o.command[0], "ls");
	assert_string_equal(o.command[1], "-U");
	assert_string_equal(o.command[2], "--help");
	assert_null(o.command[3]);
}

TEST(sizes_take_units)
{
	struct options o;
	uint64_t v;

	assert_int_equal(PARSE(&o, "--buffer-size=64K", "--max-size", "2G"), 0);
	assert_int_equal(o.buffer_size, 65536);
	assert_int_equal(o.max_size, 2ull << 30);
	assert_true(options_size("12", &v) && v == 12);
	assert_true(options_size("3MiB", &v) && v == 3 << 20);
	assert_false(options_size("", &v) || options_size("K", &v) || options_size("1X", &v) ||
		     options_size("-1", &v) || options_size("99999999999999999999", &v) ||
		     options_size("99999999999G", &v));
	assert_int_equal(o.memory, 512u << 20);
	assert_int_equal(PARSE(&o, "--memory", "64M"), 0);
	assert_int_equal(o.memory, 64u << 20);
	assert_true(PARSE(&o, "--memory", "63M"));
	assert_int_equal(PARSE(&o, "--flight=1s", "--max-size=1G"), 0);
	assert_int_equal(o.memory, 1536u << 20);
	assert_true(PARSE(&o, "--flight=1s", "--max-size=1G", "--memory=1G"));
	assert_int_equal(o.threads, 0);
	assert_int_equal(PARSE(&o, "--threads", "4"), 0);
	assert_int_equal(o.threads, 4);
}

TEST(flight_takes_times_with_units)
{
	struct options o;
	uint64_t ns;

	assert_int_equal(PARSE(&o, "--flight", "30s"), 0);
	assert_int_equal(o.flight_ns, 30000000000u);
	assert_int_equal(o.trigger.wait_ns, 0);
	assert_int_equal(PARSE(&o, "--flight=2min", "--trigger-wait=1.5ms", "-c", "^a|b$"), 0);
	assert_int_equal(o.flight_ns, 120000000000u);
	assert_int_equal(o.trigger.wait_ns, 1500000);
	assert_string_equal(o.trigger.comm, "^a|b$");
	assert_true(options_duration("100us", &ns) && ns == 100000);
	assert_true(options_duration("7ns", &ns) && ns == 7);
	assert_false(options_duration("", &ns) || options_duration("s", &ns) ||
		     options_duration("5", &ns) || options_duration("0s", &ns) ||
		     options_duration("-1s", &ns) || options_duration("1h", &ns) ||
		     options_duration("1e30s", &ns) || options_duration("nans", &ns));
	assert_int_equal(PARSE(&o, "500ms"), 0);
	assert_int_equal(o.duration_ns, 500000000);
}

static void expect_request(const struct options *o, unsigned int i, const char *what,
			   uint64_t limit_ns)
{
	const struct trigger_request *r = &o->trigger.requests[i];

	assert_int_equal(r->limit_ns, limit_ns);
	assert_int_equal(r->what_len, strlen(what));
	assert_int_equal(r->what != NULL, *what != 0);
	if (r->what)
		assert_memory_equal(r->what, what, r->what_len);
}

TEST(one_trace_after_the_other)
{
	struct options o;

	assert_int_equal(PARSE(&o, "--every=60s", "--for=1s", "--keep=2G", "-o", "traces"), 0);
	assert_int_equal(o.every_ns, 60000000000u);
	assert_int_equal(o.for_ns, 1000000000u);
	assert_int_equal(o.keep, UINT64_C(2) << 30);
	assert_true(o.log_ns);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "traces", "-q"), 0);
	assert_int_equal(o.for_ns + o.keep + o.log_ns, 0);
	/* As long as the time between two: no pause. */
	assert_int_equal(PARSE(&o, "--every=1min", "--for=60s", "-o", "traces", "3600"), 0);
	assert_int_equal(o.for_ns, 0);
	assert_int_equal(PARSE(&o, "--every=2s", "--for=1500ms", "-o", "x", "--max-dumps=3"), 0);
	assert_int_equal(PARSE(&o, "--every=2s", "--max-size=1G", "-o", "x"), 0);
	assert_int_equal(o.memory, UINT64_C(1536) << 20);
}

TEST(one_trace_after_the_other_needs_a_folder)
{
	struct options o;

	assert_int_equal(PARSE(&o, "--every=60s"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "-"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=999ms", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "--for=9ms", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "--for=61s", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=2s", "--for=1501ms", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--for=1s", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--keep=1G", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "--keep=0", "-o", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--flight=1s"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--trigger-wait=1s"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--threads=2"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--max-size=100K"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--", "true"), -EINVAL);
	assert_int_equal(PARSE(&o, "--every=60s", "-o", "x", "--self-test"), -EINVAL);
}

TEST(light_takes_a_time)
{
	struct options o;

	assert_int_equal(PARSE(&o, "-o", "x"), 0);
	assert_int_equal(o.light_ns, 0);
	assert_int_equal(PARSE(&o, "--light", "1.5ms", "--", "true"), 0);
	assert_int_equal(o.light_ns, 1500000);
	assert_int_equal(PARSE(&o, "--light", "1"), -EINVAL);
	assert_int_equal(PARSE(&o, "--light", "0ms"), -EINVAL);
	assert_int_equal(PARSE(&o, "--light", "1ms", "-K"), -EINVAL);
	assert_int_equal(PARSE(&o, "--light", "1ms", "-U"), 0);
	assert_int_equal(PARSE(&o, "--light", "1ms", "--flight", "30s"), 0);
	assert_int_equal(PARSE(&o, "--light", "1ms", "--every", "60s", "-o", "x"), 0);
}

TEST(flight_takes_endpoints_with_limits)
{
	struct options o;

	assert_int_equal(PARSE(&o, "--flight", "30s"), 0);
	assert_int_equal(o.trigger.n_requests, 0);
	assert_int_equal(PARSE(&o, "--flight", "30s", "--trigger-request", "tcp :80=1.5s",
			       "--trigger-request=200ms", "--trigger-request",
			       "unix /run/a=b c.sock=3ms", "--trigger-request", "udp :53=1ms"),
			 0);
	assert_int_equal(o.trigger.n_requests, 4);
	expect_request(&o, 0, "tcp :80", 1500000000);
	expect_request(&o, 1, "", 200000000);
	expect_request(&o, 2, "unix /run/a=b c.sock", 3000000);
	expect_request(&o, 3, "udp :53", 1000000);
}

TEST(flight_takes_routes_with_limits)
{
	struct options o;

	assert_int_equal(PARSE(&o, "--flight", "30s", "--trigger-request", "GET /users/*=200ms",
			       "--trigger-request", "tcp :80 POST /cart=1s", "--trigger-request",
			       "hgetall=5ms"),
			 0);
	assert_int_equal(o.trigger.n_requests, 3);
	expect_request(&o, 0, "GET /users/*", 200000000);
	expect_request(&o, 1, "tcp :80 POST /cart", 1000000000);
	expect_request(&o, 2, "hgetall", 5000000);
	assert_int_equal(PARSE(&o, "--flight", "30s", "--no-routes", "--trigger-request",
			       "GET /users/*=200ms"),
			 -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "30s", "--no-routes", "--trigger-request",
			       "tcp :80=200ms"),
			 0);
}

#define FOUR                                                                       \
	"--trigger-request=1ms", "--trigger-request=1ms", "--trigger-request=1ms", \
		"--trigger-request=1ms"

TEST(limits_of_requests_may_be_wrong)
{
	char *const bad[] = { "2s",	   "tcp :80=2s", "soon",       "",	   "tcp :80=",
			      "tcp :80",   "=1s",	 "80=1s",      "tcp :=1s", "[other]=1s",
			      "tcp 80=1s", "unix =1s",	 "GET /a?b=1s" };
	struct options o;

	assert_int_equal(PARSE(&o, "--trigger-request", "1s"), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(PARSE(&o, "--flight", "2s", "--trigger-request", bad[i]), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "2s", "--no-requests", "--trigger-request", "1s"),
			 -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "2s", "--trigger-request", "1s", "-c", "x"),
			 -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "2s", FOUR, FOUR, FOUR, FOUR), 0);
	assert_int_equal(PARSE(&o, "--flight", "2s", FOUR, FOUR, FOUR, FOUR,
			       "--trigger-request=1ms"),
			 -EINVAL);
}

TEST(what_is_wrong_is_refused)
{
	struct options o;

	assert_int_equal(PARSE(&o, "--no-such-option"), -EINVAL);
	assert_int_equal(PARSE(&o, "-K", "-U"), -EINVAL);
	assert_int_equal(PARSE(&o, "ten"), -EINVAL);
	assert_int_equal(PARSE(&o, "0"), -EINVAL);
	assert_int_equal(PARSE(&o, "-1"), -EINVAL);
	assert_int_equal(PARSE(&o, "nan"), -EINVAL);
	assert_int_equal(PARSE(&o, "1e99"), -EINVAL);
	assert_int_equal(PARSE(&o, "5", "ls"), -EINVAL);
	assert_int_equal(PARSE(&o, "--"), -EINVAL);
	assert_int_equal(PARSE(&o, "--buffer-size", "0"), -EINVAL);
	assert_int_equal(PARSE(&o, "--threads", "0"), -EINVAL);
	assert_int_equal(PARSE(&o, "--threads", "two"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "30s", "--threads", "2"), -EINVAL);
	assert_int_equal(PARSE(&o, "--buffer-size", "4G"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "50ms"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--max-dumps", "3"), 0);
	assert_int_equal(o.max_dumps, 3);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--max-dumps", "0"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--max-dumps", "3x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--max-dumps", "3"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--cpu-budget", "0.5%"), 0);
	assert_int_equal(o.cpu_budget_ppm, 5000);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--cpu-budget", "0.5"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--cpu-budget", "0%"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--cpu-budget", "nan%"), -EINVAL);
	assert_int_equal(PARSE(&o, "--cpu-budget", "1%"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "-o", "-"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--trigger-wait", "2s"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "--max-size", "100K"), -EINVAL);
	assert_int_equal(PARSE(&o, "--trigger-wait", "2s"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "1s", "-c", "x"), -EINVAL);
	assert_int_equal(PARSE(&o, "--flight", "2s", "--trigger-wait", "1s", "-c", "["), -EINVAL);
	assert_int_equal(PARSE(&o, "-o", ""), -EINVAL);
	assert_int_equal(PARSE(&o, "-o"), -EINVAL);
}
