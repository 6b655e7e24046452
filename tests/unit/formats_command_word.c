// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of commands that are shown: nothing in them is a terminal's command, and a shell takes them
 * as they were. */
#define OWN_MAIN
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_text.h"
#include "formats/command_word.h"

TEST(a_shell_takes_it_and_a_terminal_does_not)
{
	static const char *const words[] = {
		"/var/run/a.sock",
		"a b",
		"it's",
		"",
		"$(reboot)`x`\\",
		"^/run/x\\.sock$",
		"/run/\033c.sock",
		"a\r\nreboot\n",
		"\302\2332J it's \\n",
		"a\342\200\250b\357\273\277'",
		"\377\376",
		"\0338\001\0029",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *word = NULL, command[512], got[256];
		size_t len;
		FILE *f = open_memstream(&word, &len);
		const unsigned char *s;
		uint32_t c;

		assert_non_null(f);
		command_put_word(f, words[i]);
		assert_int_equal(fclose(f), 0);
		for (s = (const unsigned char *)word; *s; s += clean_next(s, &c)) {
			(void)clean_next(s, &c);
			assert_int_not_equal(c, 0);
		}
		setenv("WORD", word, 1);
		snprintf(command, sizeof(command), "exec bash -c 'eval \"printf %%s $WORD\"'");
		f = popen(command, "r");
		assert_non_null(f);
		got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
		assert_int_equal(pclose(f), 0);
		assert_string_equal(got, words[i]);
		free(word);
	}
}

int main(void)
{
	if (system("command -v bash >/dev/null")) {
		print_message("needs bash\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
