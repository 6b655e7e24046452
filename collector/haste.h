/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * haste.h - the start of a recording on a machine whose CPUs are all busy: what takes a third of a
 * second of CPU time would take seconds in a fair share of them.
 */
#ifndef HASTE_H
#define HASTE_H

/*
 * Gives the calling thread the highest nice priority, if it is permitted (CAP_SYS_NICE). Returns
 * the nice value that it had, for haste_end(). What is forked in between inherits the priority.
 */
int haste_begin(void);
void haste_end(int nice);

#endif /* HASTE_H */
