/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_objects.h - what threads in the flight recorder's window waited for
 * (events/object_text.h). Ids are reused after an object is dropped.
 */
#ifndef FLIGHT_OBJECTS_H
#define FLIGHT_OBJECTS_H

#include "events/object_map.h"
#include "id_pool.h"
#include "log/encode.h"
#include "threads.h"

/* A zeroed struct is empty. */
struct flight_objects {
	struct id_pool pool;
};

void flight_objects_free(struct flight_objects *f);

/* What an object_map needs of them. */
struct object_store flight_objects_store(struct flight_objects *f);
/*
 * Drops the objects that no event since oldest_ns refers to, unless a thread waits for one or the
 * BPF side may refer to it again (map). 0 or -ENOMEM, with nothing dropped.
 */
int flight_objects_collect(struct flight_objects *f, uint64_t oldest_ns, const struct threads *t,
			   struct object_map *map);
/* One more than the highest id. */
uint32_t flight_objects_end(const struct flight_objects *f);
/* The object's texts, valid until something changes; false: its record was lost. */
bool flight_objects_text(const struct flight_objects *f, uint32_t id, struct encoder_object *out);

#endif /* FLIGHT_OBJECTS_H */
