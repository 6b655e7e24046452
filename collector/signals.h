/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - what the recorder does on signals, and what its command gets to see of that: nothing.
 * A signal that was ignored when the recorder was started, as by nohup(1), stays ignored; exec
 * makes a handled one not ignored but deadly, so that the command's are put back before it.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

/* What is done where the signal was ignored. */
enum signals_ignored { SIGNALS_LEAVE, SIGNALS_TAKE };

/*
 * Calls handler (or SIG_IGN) on sig from now on, unless it was ignored and is to be left so.
 * Remembers what there was.
 */
void signals_catch(int sig, void (*handler)(int), enum signals_ignored ignored);
/* In a child, before exec: ignores what was ignored when the recorder was started, and no more. */
void signals_restore(void);

#endif /* SIGNALS_H */
