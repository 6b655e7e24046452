// SPDX-License-Identifier: GPL-2.0-or-later
#include "schedule.h"

static void choose(struct schedule *s, uint64_t after_ns, uint64_t wall_ns, uint64_t now_ns)
{
	s->at_wall_ns = (after_ns / s->every_ns + 1) * s->every_ns;
	s->at_ns = now_ns + (s->at_wall_ns - wall_ns);
}

void schedule_begin(struct schedule *s, uint64_t every_ns, uint64_t wall_ns, uint64_t now_ns)
{
	*s = (struct schedule) { .every_ns = every_ns };
	choose(s, wall_ns, wall_ns, now_ns);
}

static uint64_t late_most(const struct schedule *s)
{
	return s->every_ns / 2 < SCHEDULE_LATE_NS ? s->every_ns / 2 : SCHEDULE_LATE_NS;
}

bool schedule_look(struct schedule *s, uint64_t wall_ns, uint64_t now_ns)
{
	if (wall_ns > s->at_wall_ns + late_most(s)) {
		s->missed += (wall_ns - s->at_wall_ns) / s->every_ns + 1;
		choose(s, wall_ns, wall_ns, now_ns);
		return true;
	}
	/* Put back: what would be waited for is not the next beginning any more. */
	if (s->at_wall_ns > wall_ns + s->every_ns + late_most(s)) {
		choose(s, wall_ns, wall_ns, now_ns);
		return true;
	}
	s->at_ns = s->at_wall_ns > wall_ns ? now_ns + (s->at_wall_ns - wall_ns)
					   : now_ns - (wall_ns - s->at_wall_ns);
	return false;
}

void schedule_next(struct schedule *s, uint64_t wall_ns, uint64_t now_ns)
{
	/* Not the same one once more, if the clock was put back by a moment. */
	bool by_a_moment = wall_ns <= s->at_wall_ns && s->at_wall_ns - wall_ns < late_most(s);
	uint64_t after_ns = by_a_moment ? s->at_wall_ns : wall_ns;

	choose(s, after_ns, wall_ns, now_ns);
}
