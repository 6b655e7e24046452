// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flight_objects_free(struct flight_objects *f)
{
	id_pool_free(&f->pool);
}

/* In the pool: both processes, then the class, the name and the own end, with their terminators. */
#define PROCESS_BYTES (2 * sizeof(uint32_t))
#define OBJECT_BYTES (PROCESS_BYTES + OBJECT_CLASS_LEN + OBJECT_NAME_LEN + OBJECT_END_LEN)

static size_t put_key(uint8_t *key, const struct object_text *o)
{
	const char *const texts[] = { o->class, o->name, o->own };
	uint32_t processes[] = { o->peer, o->owner };
	size_t at = PROCESS_BYTES;

	memcpy(key, processes, PROCESS_BYTES);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t len = strlen(texts[i]) + 1;

		memcpy(key + at, texts[i], len);
		at += len;
	}
	return at;
}

static uint32_t get_object(void *ctx, const struct object_text *o, uint64_t time_ns)
{
	struct flight_objects *f = ctx;
	uint8_t key[OBJECT_BYTES];

	return id_pool_get(&f->pool, key, put_key(key, o), time_ns, NULL);
}

static uint32_t reserve_object(void *ctx, uint64_t time_ns)
{
	struct flight_objects *f = ctx;

	return id_pool_reserve(&f->pool, time_ns);
}

static int define_object(void *ctx, uint32_t id, const struct object_text *o)
{
	struct flight_objects *f = ctx;
	uint8_t key[OBJECT_BYTES];

	return id_pool_define(&f->pool, id, key, put_key(key, o)) ? 0 : -ENOMEM;
}

static void use_object(void *ctx, uint32_t id, uint64_t time_ns)
{
	struct flight_objects *f = ctx;

	id_pool_touch(&f->pool, id, time_ns);
}

struct object_store flight_objects_store(struct flight_objects *f)
{
	return (struct object_store) {
		.object = get_object,
		.reserve = reserve_object,
		.define = define_object,
		.use = use_object,
		.ctx = f,
	};
}

struct marks {
	bool *kept; /* by id */
	uint32_t end;
};

static void keep(void *ctx, uint32_t id)
{
	struct marks *m = ctx;

	if (id < m->end)
		m->kept[id] = true;
}

int flight_objects_collect(struct flight_objects *f, uint64_t oldest_ns, const struct threads *t,
			   struct object_map *map)
{
	struct marks m = { .end = flight_objects_end(f) };

	m.kept = calloc(m.end, sizeof(*m.kept));
	if (!m.kept)
		return -ENOMEM;
	object_map_each(map, keep, &m);
	for (uint32_t i = 0; i < t->n; i++)
		keep(&m, t->list[i].tid ? t->list[i].object : 0);
	for (uint32_t id = 1; id < m.end; id++)
		if (id_pool_has(&f->pool, id) && !m.kept[id] &&
		    f->pool.items[id - 1].used_ns < oldest_ns)
			id_pool_drop(&f->pool, id);
	free(m.kept);
	return 0;
}

uint32_t flight_objects_end(const struct flight_objects *f)
{
	return f->pool.n + 1;
}

bool flight_objects_text(const struct flight_objects *f, uint32_t id, struct encoder_object *out)
{
	size_t len;
	const char *key = id_pool_key(&f->pool, id, &len);
	uint32_t processes[2];

	if (!key)
		return false;
	memcpy(processes, key, PROCESS_BYTES);
	out->peer = processes[0];
	out->owner = processes[1];
	out->class = key + PROCESS_BYTES;
	out->name = out->class + strlen(out->class) + 1;
	out->own = out->name + strlen(out->name) + 1;
	return true;
}
