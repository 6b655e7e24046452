/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * haste.h - recording on a machine whose CPUs are all busy. The start takes a third of a second of
 * CPU time, which would be seconds in a fair share of them; and a thread that gets a CPU too late
 * finds its rings full.
 */
#ifndef HASTE_H
#define HASTE_H

/*
 * Gives the calling thread the highest nice priority, if it is permitted (CAP_SYS_NICE). Returns
 * the nice value that it had, for haste_end(). What is forked in between inherits the priority.
 */
int haste_begin(void);
/*
 * While events are recorded: above ordinary threads, unless the recorder was started with a nice
 * value of its own, which it has again then.
 */
void haste_record(int nice);
void haste_end(int nice);

#endif /* HASTE_H */
