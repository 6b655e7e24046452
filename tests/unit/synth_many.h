/* SPDX-License-Identifier: GPL-2.0-or-later */
/* synth_many.h - one check on many traces: random schedules, and what chaincap has recorded. */
#pragma once

#include "synth_schedule.h"
#include "synth_script.h"

/* name: the trace's file, or the script that it was made from. */
typedef void (*trace_checker)(const struct trace *t, const char *name, void *arg);

/* Checks the random schedule of that seed and kind; every other one has samples. */
void on_schedule(uint64_t seed, enum schedule_kind kind, trace_checker check, void *arg);
/* How many are tried: the number in that variable of the environment, or else the usual one, of which
 * only "make test-all" (ALL) tries more than a quarter. */
unsigned long schedules_wanted(const char *variable, unsigned long usual);
/* How many of them a law is tried on: LAWS_TRACES, usually 500. */
unsigned long schedules_to_try(void);
/* The seed of the first one: FIRST_SEED of the environment, or else 1. */
unsigned long schedules_first(void);
/* Checks so many of a kind. */
void on_schedules(enum schedule_kind kind, trace_checker check);
/* The same with timed waits that are tried again, for a quarter of that number. */
void on_schedules_with_tries(enum schedule_kind kind, trace_checker check);
/* Checks so many of a kind as light recordings. */
void on_light_schedules(enum schedule_kind kind, trace_checker check);
/*
 * Checks each recorded trace: those that match TRACES, a pattern in the environment, or else those
 * in tests/data. Skips the test if there is none.
 */
void on_recorded(trace_checker check, void *arg);
/* The same of the services' traces, which are larger. */
void on_recorded_services(trace_checker check, void *arg);
