// SPDX-License-Identifier: GPL-2.0-or-later
/* What strangers have chosen, made safe: text for a terminal and for JSON, and files to be opened.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_object.h"
#include "base/open_regular.h"
#include "base/text.h"

static void expect_clean(const char *text, const char *expected)
{
	char *shown = NULL;
	size_t len;
	FILE *f = open_memstream(&shown, &len);

	assert_non_null(f);
	print_clean(f, text);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(shown, expected);
	free(shown);
}

static void what_a_terminal_or_an_eye_could_mistake_is_not_shown(void **state)
{
	(void)state;
	expect_clean("a\033cb\r\nc\177", "a?cb??c?");
	expect_clean("a\302\233b\302\205", "a?b?");			     /* C1 */
	expect_clean("a\342\200\250b\342\200\251c", "a?b?c");		     /* U+2028, U+2029 */
	expect_clean("s\342\200\213s\357\273\277h\342\201\240d", "s?s?h?d"); /* 200B FEFF 2060 */
	expect_clean("a\302\255b\363\240\201\201c", "a?b?c");		     /* 00AD, a tag */
	expect_clean("a\342\200\256b\342\201\246c", "a?b?c");		     /* 202E, 2066 */
	/* Parts of words: the joiners; and all else. */
	expect_clean("\331\205\333\214\342\200\214\330\256",
		     "\331\205\333\214\342\200\214\330\256");
	expect_clean("\303\251\360\237\220\230", "\303\251\360\237\220\230");
}

static void json_has_escapes_for_it(void **state)
{
	struct text_buf b = { 0 };

	(void)state;
	json_string(&b, "a\342\200\250\357\273\277\363\240\201\201z");
	assert_string_equal(b.p, "\"a\\u2028\\ufeff\\udb40\\udc41z\"");
	text_free(&b);
}

static void only_regular_files_are_opened(void **state)
{
	char dir[] = "/tmp/open-regular-XXXXXX", path[64], link[64];
	int fd, status;
	pid_t writer;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	snprintf(link, sizeof(link), "%s/l", dir);
	assert_int_equal(symlink("f", link), 0);
	assert_int_equal(open_regular(path), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (!writer) {
		alarm(60);
		/* Opening it for reading, even without waiting, would let this go on. */
		_exit(open(path, O_WRONLY | O_CLOEXEC) < 0);
	}
	usleep(200000); /* it waits by now, and else will */
	assert_int_equal(open_regular(path), -EINVAL);
	assert_int_equal(open_regular(link), -EINVAL);
	usleep(200000);
	assert_int_equal(waitpid(writer, &status, WNOHANG), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_regular("/dev/null"), -EINVAL);
	assert_int_equal(open_regular(dir), -EINVAL);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	fd = open_regular(link);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, path, sizeof(path)), 1);
	close(fd);
	snprintf(path, sizeof(path), "%s/f", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void styles_and_bytes_that_continue_a_character_take_no_column(void **state)
{
	static const char styled[] =
		"\033[1mna\xc3\xafve\033[0m x \033[38;5;16;48;5;143m 7 %\033[0m";

	(void)state;
	assert_int_equal(text_columns("", SIZE_MAX), 0);
	assert_int_equal(text_columns("na\xc3\xafve", SIZE_MAX), 5);
	assert_int_equal(text_columns("na\xc3\xafve", 2), 2);
	assert_int_equal(text_columns(styled, SIZE_MAX), 12);
	assert_int_equal(text_columns("\033[", SIZE_MAX), 0);
	assert_int_equal(text_fitting("abc", 0), 0);
	assert_int_equal(text_fitting("abc", 2), 2);
	assert_int_equal(text_fitting("abc", 9), 3);
	assert_int_equal(text_fitting("na\xc3\xafve", 3), 4);
	/* Behind the last character that fits nothing is taken, also no end of a style. */
	assert_int_equal(text_fitting(styled, 5), strlen("\033[1mna\xc3\xafve"));
	assert_int_equal(text_fitting(styled, 6), strlen("\033[1mna\xc3\xafve\033[0m "));
}

static void cut_to(size_t most, const char *text, const char *expected)
{
	struct json_object j = { .most = most };

	json_text(&j, NULL, text);
	assert_string_equal(j.b.p, expected);
	assert_true(j.b.len <= most);
	text_free(&j.b);
}

static void strings_of_json_are_cut_between_characters(void **state)
{
	struct json_object j = { .most = 9 };

	(void)state;
	cut_to(12, "0123456789", "\"0123456789\"");
	cut_to(12, "0123456789a", "\"012...89a\"");
	/* An escape, its two halves and a character of several bytes stay whole. */
	cut_to(13, "a\\\\\\\\\\bcdefgh", "\"a\\\\...efgh\"");
	cut_to(16, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
	       "\"\xc3\xa9\xc3\xa9...\xc3\xa9\xc3\xa9\"");
	cut_to(28,
	       "\xf3\xa0\x80\x81"
	       "abcdefghijklmnopqrstuvwxyz",
	       "\"...pqrstuvwxyz\"");
	cut_to(30,
	       "\xf3\xa0\x80\x81"
	       "abcdefghijklmnopqrstuvwxyz",
	       "\"\\udb40\\udc01...opqrstuvwxyz\"");
	json_begin(&j, NULL, '{');
	json_number(&j, "n", 18446744073709551615u);
	json_begin(&j, "list", '[');
	json_text(&j, NULL, "");
	json_bool(&j, NULL, true);
	json_whole_text(&j, NULL, "0123456789");
	json_end(&j, ']');
	json_decimal(&j, "d{", 0.5);
	json_end(&j, '}');
	assert_string_equal(j.b.p, "{\"n\":18446744073709551615,"
				   "\"list\":[null,true,\"0123456789\"],\"d{\":0.500}");
	text_free(&j.b);
}

static void json_in_a_page_ends_no_element(void **state)
{
	struct json_object j = { .in_page = true };

	(void)state;
	json_on_line(&j, NULL, '{');
	json_exact(&j, "s", "</script>\"<");
	json_exact(&j, "empty", "");
	json_exact(&j, "none", NULL);
	json_on_line(&j, "list", '[');
	json_signed(&j, NULL, INT64_MIN);
	json_on_line(&j, NULL, '[');
	json_end(&j, ']');
	json_end(&j, ']');
	json_ready(&j, "ready", "{}");
	json_end(&j, '}');
	assert_string_equal(j.b.p, "{\"s\":\"\\u003c/script>\\\"\\u003c\",\"empty\":\"\","
				   "\"none\":null,\n\"list\":[-9223372036854775808,\n[]],"
				   "\"ready\":{}}");
	text_free(&j.b);
}

static void drops(const char *text, const char *expected)
{
	char *s = strdup(text);

	assert_non_null(s);
	text_drop_addresses(s);
	assert_string_equal(s, expected);
	free(s);
}

static void addresses_and_numbers_of_objects_are_dropped(void **state)
{
	(void)state;
	drops("", "");
	drops("ran [a.so+0x4e40] < [b.c+0x1]", "ran [a.so] < [b.c]");
	drops("[a+0x4e40", "[a+0x4e40");
	drops("[a+0xg]", "[a+0xg]");
	drops("f+0x10 x", "f+0x10 x");
	drops("for futex 15009:convert+0x461648, in 3 tries", "for futex, in 3 tries");
	drops("for epoll 7:14 (43 %), epoll 8:2 (2 %)", "for epoll (43 %), epoll (2 %)");
	drops("waits for pipe 12", "waits for pipe");
	drops("for tcp 127.0.0.1:80", "for tcp 127.0.0.1:80");
	drops("myfutex 7:1", "myfutex 7:1");
	drops("futex x", "futex x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_terminal_or_an_eye_could_mistake_is_not_shown),
		cmocka_unit_test(json_has_escapes_for_it),
		cmocka_unit_test(strings_of_json_are_cut_between_characters),
		cmocka_unit_test(json_in_a_page_ends_no_element),
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(addresses_and_numbers_of_objects_are_dropped),
		cmocka_unit_test(styles_and_bytes_that_continue_a_character_take_no_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
