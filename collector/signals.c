// SPDX-License-Identifier: GPL-2.0-or-later
#include "signals.h"

#include <signal.h>
#include <stddef.h>

#define CAUGHT_MAX 16

static struct {
	int sig;
	struct sigaction before;
} caught[CAUGHT_MAX];
static size_t n_caught;

void signals_catch(int sig, void (*handler)(int), enum signals_ignored ignored)
{
	struct sigaction sa = { .sa_handler = handler }, before;

	sigemptyset(&sa.sa_mask);
	if (n_caught == CAUGHT_MAX || sigaction(sig, NULL, &before) ||
	    (before.sa_handler == SIG_IGN && ignored == SIGNALS_LEAVE))
		return;
	if (sigaction(sig, &sa, NULL))
		return;
	caught[n_caught].sig = sig;
	caught[n_caught].before = before;
	n_caught++;
}

void signals_restore(void)
{
	while (n_caught) {
		n_caught--;
		sigaction(caught[n_caught].sig, &caught[n_caught].before, NULL);
	}
}
