/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - signal handlers of the recorder that do not change what its command inherits. exec
 * resets a handled signal to its default, even if it was ignored when the recorder was started
 * (nohup(1)): so the original dispositions are restored before exec.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

/* What signals_catch() does if the signal was ignored. */
enum signals_ignored { SIGNALS_LEAVE, SIGNALS_TAKE };

/*
 * Installs handler (or SIG_IGN) for sig, unless sig was ignored and `ignored` is SIGNALS_LEAVE.
 * Remembers the disposition before.
 */
void signals_catch(int sig, void (*handler)(int), enum signals_ignored ignored);
/* In a child, before exec: restores the dispositions that the recorder was started with. */
void signals_restore(void);

#endif /* SIGNALS_H */
