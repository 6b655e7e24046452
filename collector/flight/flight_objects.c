// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flight_objects_free(struct flight_objects *f)
{
	id_pool_free(&f->pool);
}

/* In the pool: the peer, the class and the name, each of these with its terminator. */
#define PEER_BYTES sizeof(uint32_t)
#define OBJECT_BYTES (PEER_BYTES + OBJECT_CLASS_LEN + OBJECT_NAME_LEN)

static size_t put_key(uint8_t *key, const struct object_text *o)
{
	size_t class = strlen(o->class) + 1, name = strlen(o->name) + 1;

	memcpy(key, &o->peer, PEER_BYTES);
	memcpy(key + PEER_BYTES, o->class, class);
	memcpy(key + PEER_BYTES + class, o->name, name);
	return PEER_BYTES + class + name;
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

	if (!key)
		return false;
	memcpy(&out->peer, key, PEER_BYTES);
	out->class = key + PEER_BYTES;
	out->name = out->class + strlen(out->class) + 1;
	return true;
}
