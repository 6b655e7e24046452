// SPDX-License-Identifier: GPL-2.0-or-later
/* Sleeps that ended only because their threads died (chain-semantics, section 2). */
#include <string.h>

#include "oracle_private.h"

static const char *const dying[] = { "do_exit", "do_coredump", "vfs_coredump", "coredump_wait",
				     NULL };
static const char *const by_signal[] = { "get_signal", NULL };
static const char *const signalling[] = { "complete_signal",
					  "signal_wake_up_state",
					  "zap_other_threads",
					  "zap_process",
					  "zap_threads",
					  "coredump_wait",
					  NULL };

static const char *const for_signal[] = { "sigsuspend", "do_sigtimedwait", NULL };
static const char *const ending_process[] = { "zap_other_threads", NULL };

/* Whether one of the first n frames is one of these functions, or the compiler's copy of it. */
static bool is_in(struct world *w, const char *const *names, uint32_t kstack, uint32_t n)
{
	struct trace_stack s = trace_stack(w->t, kstack);

	for (uint32_t i = 0; i < s.n && i < n; i++) {
		const struct trace_frame *f = trace_frame(w->t, s.frames[i]);
		const char *symbol = f ? trace_string(w->t, f->symbol) : "";

		for (const char *const *name = names; *name; name++)
			if (strlen(*name) == strcspn(symbol, ".") &&
			    !strncmp(*name, symbol, strlen(*name)))
				return true;
	}
	return false;
}

/* The last sleep of a life but for those of its end; NULL: it, or what followed, is not known. */
static struct sleep *last_of(struct world *w, const struct life *l)
{
	for (int i = l->n_pieces - 1; i >= 0; i--) {
		const struct piece *p = &l->pieces[i];

		if (p->what == UNKNOWN)
			return NULL;
		if (p->what != SLEEPS && p->what != WOKEN)
			continue;
		if (is_in(w, dying, l->sleeps[p->sleep].kstack, UINT32_MAX))
			continue;
		if (p->what == SLEEPS)
			return &l->sleeps[p->sleep];
		/* It was ready at once: it had been woken before it slept. */
		if (!i || p[-1].what != SLEEPS || p[-1].sleep != p->sleep)
			return NULL;
	}
	return NULL;
}

bool oracle_was_ending(struct world *w, const struct sleep *s)
{
	return !s->of_client && is_in(w, dying, s->waker_kstack, UINT32_MAX);
}

void oracle_find_killed(struct world *w)
{
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];
		struct sleep *s;
		uint32_t irq;

		l->process_ended = NOBODY;
		if (!is_in(w, by_signal, l->end_kstack, UINT32_MAX) ||
		    !is_in(w, dying, l->end_kstack, UINT32_MAX))
			continue;
		s = last_of(w, l);
		if (!s || s->never || s->waker == NOBODY)
			continue;
		irq = oracle_interrupt_frames(w, s);
		irq = irq ? irq - 1 : UINT32_MAX;
		if (is_in(w, ending_process, s->waker_kstack, irq))
			l->process_ended = (int)(s - l->sleeps);
		s->never = l->process_ended != NOBODY ||
			   (is_in(w, signalling, s->waker_kstack, irq) &&
			    !is_in(w, for_signal, s->kstack, UINT32_MAX));
	}
}
