/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_values.h - the values of chainwalk's options: each function reads one value as the user
 * wrote it and stores it in struct options. Which option has which value is command_line.c's table.
 */
#pragma once

#include "base/options.h"
#include "common/option_table.h"

/*
 * The functions below return 0; or -EINVAL or -ENOMEM, with a line in s->why. Those that do not say
 * otherwise set s->member.
 */
/* "1.5": seconds, in ns. */
int set_seconds(struct setting *s, const char *value);
/* "10us", in ns: a unit is required. */
int set_duration(struct setting *s, const char *value);
int add_id(struct setting *s, const char *value);
int add_process(struct setting *s, const char *value);
int add_regex(struct setting *s, const char *value);
/* A folder that exists. */
int add_path(struct setting *s, const char *value);
/* Words, separated by commas. */
int add_words(struct setting *s, const char *value);
int set_depth(struct setting *s, const char *value);
int set_top(struct setting *s, const char *value);
int set_output(struct setting *s, const char *value);
/* These two know their members. */
int set_format(struct setting *s, const char *value);
/* A list of parts and letters of sleep states, separated by commas. */
int set_states(struct setting *s, const char *value);
