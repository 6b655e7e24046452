// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of requests: made events in, the table out. */
#include "test.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

/* unit: as --unit has it, or "ms", which is the default. */
static char *table(const char *script, const char *unit)
{
	struct options o;

	options_init(&o);
	o.given |= strcmp(unit, "ms") ? GIVEN_UNIT : 0;
	return script_formatted(script, &o, "requests");
}

/*
 * S (threads are called by letters) reads a request at 300 that arrived at 100, after it worked for
 * another one; it waits for L from 400 to 700, has no CPU until 750, and answers at 900.
 */
static const char one_waits[] =
	"queues\n"
	"thread S *\n"
	"thread L *\n"
	"0 c0 - R > S\n"
	"0 c1 - R > L\n"
	"250 c0 S request tcp::80 conn=1 arrived=45 taken=50\n"
	"350 c0 S ran |work;main\n"
	"400 c0 S S > X lock for=futex:17:lock\n"
	"700 c1 L wakes S wake;unlock\n"
	"700 c1 S queued! c0\n"
	"750 c0 X R > S\n"
	"900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;reply\n"
	"950 c0 S request-open tcp::80 conn=2 arrived=940 taken=945\n"
	"end 1000\n";

TEST(rows_say_where_the_time_went)
{
	expect_text(
		table(one_waits, "ms"),
		"ENDPOINT          REQUESTS  PER SECOND       MEAN        P50        P90        P99"
		"      P99.9    LONGEST  MARKS\n"
		"tcp :80 S/119            2      2000.0      0.502      0.205      0.800      0.800"
		"      0.800      0.800  1 open\n"
		"(times in ms)\n"
		"\n"
		"tcp :80 S/119: where the time went\n"
		"         2 ALL              1 MIDDLE             1 SLOWEST          WHAT\n"
		"         0.300  29.9 %         0.000   0.0 %         0.300  37.5 %  blocked in "
		"lock for futex "
		"17:lock\n"
		"         0.450  44.8 %         0.000   0.0 %         0.250  31.2 %  ran work\n"
		"         0.150  14.9 %         0.000   0.0 %         0.150  18.8 %  queued, while "
		"the "
		"reader worked for tcp :80\n"
		"         0.055   5.5 %         0.005   2.4 %         0.050   6.2 %  queued\n"
		"         0.050   5.0 %         0.000   0.0 %         0.050   6.2 %  no CPU: X\n"
		"         0.000   0.0 %         0.200  97.6 %         0.000   0.0 %  ran\n"
		"         1.005 100.0 %         0.205 100.0 %         0.800 100.0 %  all of it\n"
		"\n"
		"the slowest:\n"
		"   ARRIVED (s)       TOOK     QUEUED  CONNECTION  READ BY                 "
		"ANSWERED BY\n"
		"      0.000100      0.800      0.200           2  S/119                   S/119\n"
		"      0.000045      0.205      0.005           1  S/119                   S/119\n"
		"\n"
		"one of them: chainwalk -f tree --request '^tcp :80$' --from 0.000100 --to "
		"0.000901 "
		"--request-min 800us --max-wait 801us\n"
		"      +0.000 ms       0.200 ms  arrived on connection 2, and was queued; for "
		"150.000 us of that the reader worked for other requests\n"
		"      +0.200 ms                 read by S (119)\n"
		"      +0.200 ms       0.100 ms  ran\n"
		"      +0.300 ms       0.300 ms  slept in lock for futex 17:lock, ended by L "
		"(112), "
		"which ran 300.000 us\n"
		"      +0.600 ms       0.050 ms  had no CPU: 100 % X\n"
		"      +0.650 ms       0.150 ms  ran\n"
		"      +0.800 ms                 answered in send\n");
}

/* Sleeps at one place are one step with their sum, also each too short to be told by itself. */
TEST(sleeps_at_one_place_are_one_step)
{
	char script[8192];
	int len = snprintf(script, sizeof(script),
			   "thread S *\nthread L *\n0 c0 - R > S\n"
			   "0 c1 - R > L\n");
	struct options o;
	char *got;

	/* 40 sleeps of 8 us, each followed by 2 us of work, and then one elsewhere. */
	for (int i = 0; i < 40; i++)
		len += snprintf(
			script + len, sizeof(script) - (size_t)len,
			"%d c0 S S > - read;ask\n%d c1 L wakes S write;tell\n%d c0 - R > S\n",
			100 + 10 * i, 108 + 10 * i, 108 + 10 * i);
	len += snprintf(script + len, sizeof(script) - (size_t)len,
			"500 c0 S S > - lock;other\n550 c1 L wakes S unlock\n550 c0 - R > S\n"
			"600 c0 S request tcp::80 conn=2 arrived=100 taken=100\n");
	snprintf(script + len, sizeof(script) - (size_t)len, "700 c0 S S > -\nend 800\n");
	options_init(&o);
	got = script_formatted(script, &o, "requests");
	if (!strstr(got, "      +0.000 ms       0.398 ms  slept 40 times in read, in all 320.000 "
			 "us, ran "
			 "78.000 us, ended by L (112), which ran 320.000 us\n"
			 "      +0.400 ms       0.050 ms  slept in lock, ended by L"))
		fail_msg("%s", got);
	free(got);
}

TEST(percentiles_are_of_the_nearest_rank)
{
	char script[8192], *got;
	int len = snprintf(script, sizeof(script), "thread S *\n0 c0 - R > S\n");

	/* 100 requests, which take 1, 2, ... 100 us; and a first one, which takes 500. */
	len += snprintf(script + len, sizeof(script) - (size_t)len,
			"600 c0 S request tcp::80 conn=1 arrived=100 taken=100 first\n");
	for (int i = 1; i <= 100; i++)
		len += snprintf(script + len, sizeof(script) - (size_t)len,
				"%d c0 S request tcp::80 conn=1 arrived=%d taken=%d\n",
				1000 + 200 * i, 1000 + 199 * i, 1000 + 199 * i);
	snprintf(script + len, sizeof(script) - (size_t)len, "end 100000\n");
	got = table(script, "us");
	*strstr(got, "\n\n") = 0;
	expect_text(
		got,
		"ENDPOINT             REQUESTS  PER SECOND       MEAN        P50        P90        "
		"P99      P99.9    LONGEST  MARKS\n"
		"tcp :80 S/119             100      1000.0     50.500     50.000     90.000     "
		"99.000    100.000    100.000\n"
		"tcp :80 first S/119         1        10.0    500.000    500.000    500.000    "
		"500.000    500.000    500.000\n"
		"(times in us)");
}

/* How often the text is in it. */
static size_t times(const char *in, const char *text)
{
	size_t n = 0;

	for (const char *at = in; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

/*
 * Requests of light recordings that stand for others are as many as are told: what a table says of
 * all of them, and which the slowest are.
 */
static char *of_each(bool told, const unsigned int *others, unsigned int n)
{
	char *script = calloc(1, 1 << 20), *got;
	int len = sprintf(script, "thread S *\n0 c0 - R > S\n");
	unsigned int at = 1000;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k <= (told ? others[i] : 0); k++) {
			len += sprintf(script + len,
				       "%u c0 S request tcp::80 conn=1 arrived=%u taken=%u "
				       "route=%s others=%u\n",
				       at + i + 1, at, at, i % 3 ? "GET+/a" : "GET+/b",
				       told ? 0 : others[i]);
			at += 200;
		}
	sprintf(script + len, "end 1000000\n");
	got = table(script, "us");
	free(script);
	return got;
}

/* Ends the text before where the time went, and says of how many requests that is. */
static void cut_before_times(char *text, unsigned int of[2])
{
	char *times = strstr(text, "\n\n");

	*times = '\0';
	times = strstr(times + 1, "went\n");
	assert_int_equal(sscanf(times + 5, "%u ALL %*u MIDDLE %u SLOWEST", &of[0], &of[1]), 2);
}

TEST(a_request_may_stand_for_others)
{
	unsigned int others[100], of_whole[2], of_light[2];
	char *whole, *light;

	for (unsigned int seed = 0; seed < 20; seed++) {
		for (unsigned int i = 0; i < 100; i++)
			others[i] = (i * 7 + seed * 13) % 11 * (i < 60 + seed);
		whole = of_each(true, others, 100);
		light = of_each(false, others, 100);
		/* The tenth in the middle may have a few more, as it has requests as a whole. */
		cut_before_times(whole, of_whole);
		cut_before_times(light, of_light);
		assert_memory_equal(of_light, of_whole, sizeof(of_light));
		expect_text(light, whole);
		free(whole);
	}
}

TEST(the_slowest_are_a_part_of_all_that_they_stand_for)
{
	static const char script[] =
		"thread S *\n0 c0 - R > S\n"
		"200 c0 S request tcp::80 conn=1 arrived=150 taken=150\n"
		"300 c0 S request tcp::80 conn=1 arrived=260 taken=260\n"
		"400 c0 S request tcp::80 conn=1 arrived=370 taken=370\n"
		"500 c0 S request tcp::80 conn=1 arrived=480 taken=480 others=9\n"
		"end 1000\n";
	char *got;
	struct options o;

	options_init(&o);
	o.requests = true;
	o.slowest_ppm = 250000; /* 3 of 13 */
	got = script_formatted(script, &o, "csv");
	assert_int_equal(times(got, "[request tcp :80] S"), 3);
	free(got);
	o.slowest_ppm = 500000; /* 6: the fourth stands for ten */
	got = script_formatted(script, &o, "csv");
	assert_int_equal(times(got, "[request tcp :80] S"), 4);
	free(got);
}

TEST(without_requests_it_says_so)
{
	expect_text(table("0 c0 - R > A\nend 10\n", "ms"), "no requests\n");
}

/* Of each endpoint the rows add up to their sum, and that of all requests to the table's mean. */
static void rows_add_up(const char *text)
{
	uint64_t sums[3] = { 0 }, row[3];
	unsigned int tables = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strstr(line, " ALL ") && strstr(line, " ALL ") < line + strcspn(line, "\n"))
			memset(sums, 0, sizeof(sums));
		if (sscanf(line, "%" SCNu64 " %*f %% %" SCNu64 " %*f %% %" SCNu64 " %*f %%",
			   &row[0], &row[1], &row[2]) != 3)
			continue;
		if (strstr(line, "%  all of it\n") != line + strcspn(line, "\n") - 12) {
			for (int i = 0; i < 3; i++)
				sums[i] += row[i];
			continue;
		}
		tables++;
		for (int i = 0; i < 3; i++)
			if (sums[i] != row[i])
				fprintf(stderr, "%s", text);
		assert_memory_equal(sums, row, sizeof(sums));
	}
	assert_int_equal(tables > 0, strstr(text, "where the time went") != NULL);
}

/* The script, in which requests stand for others. */
static char *with_others(const char *script)
{
	char *out, *copy = strdup(script), *rest;
	size_t len, n = 0;
	FILE *f = open_memstream(&out, &len);

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		fputs(line, f);
		if (strstr(line, " request "))
			fprintf(f, " others=%zu", n++ % 5);
		putc('\n', f);
	}
	fclose(f);
	free(copy);
	return out;
}

TEST(rows_add_up_on_schedules)
{
	unsigned int with_requests = 0;

	for (uint32_t seed = 1; seed <= 60; seed++) {
		struct schedule *s = schedule_new(seed, seed % 2 ? SCHEDULE_WHOLE : SCHEDULE_LOSSY);
		struct options o;
		char *script, *got;

		schedule_requests(s, seed % 2 == 0);
		schedule_sample(s);
		got = schedule_script(s);
		script = with_others(got);
		free(got);
		options_init(&o);
		o.unit = UNIT_NS;
		o.given |= GIVEN_UNIT;
		o.top = UINT64_MAX;
		got = script_formatted(script, &o, "requests");
		with_requests += strcmp(got, "no requests\n") != 0;
		rows_add_up(got);
		free(got);
		free(script);
		schedule_free(s);
	}
	assert_true(with_requests > 30);
}

/* ---- beyond the median of the route --------------------------------------------------------- */

/*
 * Twenty requests for a report take 30 us, twenty for a cart 10 but one of them 25; one for what is
 * rarely asked for takes 25, and one for something else that is takes 5: these two have one median,
 * the lower one.
 */
static void put_routes(char *script, size_t size)
{
	int len = snprintf(script, size, "thread S *\n0 c0 - R > S\n");
	unsigned int at = 10;

	for (unsigned int i = 0; i < 42; i++) {
		const char *route = i == 40   ? "rare"
				    : i == 41 ? "other"
				    : i % 2   ? "report"
					      : "cart";
		unsigned int took = i == 41 ? 5 : i == 40 || i == 20 ? 25 : i % 2 ? 30 : 10;

		len += snprintf(script + len, size - (size_t)len,
				"%u c0 S request tcp::80 conn=1 arrived=%u taken=%u "
				"route=GET+/%s\n",
				at + took, at, at, route);
		at += took + 1;
	}
	snprintf(script + len, size - (size_t)len, "end 2000\n");
}

TEST(each_request_says_what_it_took_beyond_the_median_of_its_route)
{
	char script[8192], *got;
	struct options o;

	put_routes(script, sizeof(script));
	options_init(&o);
	o.requests = true;
	got = script_formatted(script, &o, "csv");
	assert_int_equal(times(got, ",GET /report,,,0\n"), 20);
	assert_int_equal(times(got, ",GET /cart,,,0\n"), 19);
	assert_int_equal(times(got, ",GET /cart,,,15000\n"), 1);
	assert_int_equal(times(got, ",GET /rare,,,20000\n"), 1);
	assert_int_equal(times(got, ",GET /other,,,0\n"), 1);
	free(got);
	got = script_formatted(script, &o, "json");
	assert_int_equal(times(got, "\"route\":\"GET /report\",\"over\":0,"), 20);
	assert_int_equal(times(got, "\"route\":\"GET /cart\",\"over\":15000,"), 1);
	assert_int_equal(times(got, "\"route\":\"GET /rare\",\"over\":20000,"), 1);
	free(got);
	/* Of those that are alike one row has the time, another the number. Times beyond the median
	 * are rounded up as lengths are. */
	o.rows = ROWS_WAITS;
	got = script_formatted(script, &o, "rows");
	assert_int_equal(times(got, "\tGET /cart\t0\n"), 2);
	assert_int_equal(times(got, "\tGET /cart\t15360\n"), 2);
	assert_int_equal(times(got, "\tGET /rare\t20480\n"), 2);
	free(got);
}

TEST(a_table_of_slow_requests_says_what_is_beyond_the_median)
{
	char script[8192], *got;

	put_routes(script, sizeof(script));
	got = table(script, "ms");
	assert_int_equal(times(got, "ARRIVED (s)       TOOK       OVER     QUEUED"), 4);
	assert_int_equal(times(got, "      0.025      0.015      0.000"), 1);
	free(got);
	/* Without a route it would be what stands above. */
	got = table(one_waits, "ms");
	assert_null(strstr(got, "OVER"));
	free(got);
}
