// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_amounts.h"

/* A number for each key, from 1; those of an end alone, which nearly all are, are known. */
static uint32_t key_id(struct wait_amounts *w, struct amount_key key)
{
	uint32_t id;

	if (!key.stage && !key.value)
		return key.end + 1u;
	id = pairs_id(&w->keys, (uint32_t)key.stage << 8 | key.end, key.value);
	return CHAIN_ENDS + id;
}

static void add_time(struct wait_amounts *w, uint32_t place, struct amount_key key, uint64_t ns,
		     uint64_t interrupted_ns)
{
	uint32_t id = key_id(w, key);
	struct wait_amount *a = pair_table_at(&w->at, place, id, sizeof(*a));

	a->place = place;
	a->key = key;
	a->ns += ns;
	a->interrupted_ns += interrupted_ns;
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct wait_amounts *w = arg;
	uint32_t place = w->place_of ? w->place_of(w, node) : node;

	if (key.kind == AMOUNT_CPU_HOLDER)
		sums_add(&w->had, place, key.value, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		sums_add(&w->ran, place, key.value, amount);
	else if (key.kind == AMOUNT_INTERRUPTED)
		add_time(w, place, (struct amount_key) { .end = key.end }, 0, amount);
	else
		add_time(w, place, key, amount, 0);
}

static void add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct wait_amounts *w = arg;
	uint32_t place = w->place_of ? w->place_of(w, node) : node;

	woken_meanwhile_add(&w->woken, place, w->wakings, waker, from_ns, to_ns);
}

struct wait_amount *wait_amounts_list(const struct wait_amounts *w, size_t *n)
{
	*n = w->at.keys.n;
	return *n ? (struct wait_amount *)w->at.at + 1 : NULL;
}

void wait_amounts_make(struct wait_amounts *w, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;
	uint32_t head = chains_head(&w->chains, 1);

	pair_table_clear(&w->at, sizeof(struct wait_amount));
	sums_clear(&w->had);
	sums_clear(&w->ran);
	sums_clear(&w->woken);
	if (p->wait->kind == WAIT_SLEEP)
		chains_explain(&w->chains, head, p->thread, p->wait, s->blocked_from_ns,
			       s->blocked_to_ns);
	if (w->wakings)
		chains_explain_own(&w->chains, head, p->thread, p->wait, s->off_from_ns,
				   s->off_to_ns);
	sums_sort(&w->had, w->names, cpu_holder_name);
	sums_merge(&w->ran, w->names, names_off_cpu);
	sums_sort(&w->ran, w->names, names_off_cpu);
	sums_sort(&w->woken, w->names, names_string);
}

void wait_amounts_init(struct wait_amounts *w, const struct timelines *tl, const struct options *o,
		       struct names *names, bool blocked_only,
		       uint32_t (*label)(void *arg, const struct link *l),
		       uint32_t (*identity)(const void *arg, uint32_t label))
{
	struct chain_user user = { .sink = { .arg = w, .add = add },
				   .label = label,
				   .identity = identity,
				   .wants = 1u << AMOUNT_SAMPLES | 1u << AMOUNT_INTERRUPTED };

	*w = (struct wait_amounts) { .names = names };
	if (!blocked_only) {
		user.sink.window = add_window;
		user.wants |= 1u << AMOUNT_CPU_HOLDER;
		cpu_holders_new(&w->cpu_holders, tl, true);
		woken_meanwhile_new(&w->wakings, tl, names_kernel_stacks(names));
		user.cpu_holders = w->cpu_holders;
	}
	chains_init(&w->chains, tl, o, &user);
}

void wait_amounts_free(struct wait_amounts *w)
{
	chains_free(&w->chains);
	cpu_holders_free(w->cpu_holders);
	woken_meanwhile_free(w->wakings);
	pairs_free(&w->keys);
	pair_table_free(&w->at);
	sums_free(&w->had);
	sums_free(&w->ran);
	sums_free(&w->woken);
}
