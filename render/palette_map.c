// SPDX-License-Identifier: GPL-2.0-or-later
#include "palette_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(struct palette_map *m, const char *name, size_t len, uint32_t rgb)
{
	uint32_t id;
	int err = name_table_add(&m->names, name, len, &id);

	if (err)
		return err;
	if (id >= m->cap) {
		uint32_t cap = m->cap ? m->cap * 2 : 1024;
		uint32_t *p = realloc(m->rgb, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		m->rgb = p;
		m->cap = cap;
	}
	m->rgb[id] = rgb;
	return 0;
}

static int take_line(struct palette_map *m, char *line, size_t len, uint64_t number)
{
	char *arrow = NULL;
	unsigned r, g, b;
	int end = 0;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		line[--len] = 0;
	if (!len)
		return 0;
	for (char *p = line; (p = memmem(p, len - (size_t)(p - line), "->", 2)); p++)
		arrow = p;
	if (arrow && strspn(arrow + 3, "0123456789abcdefABCDEF") == 6 &&
	    sscanf(arrow, "->#%2x%2x%2x%n", &r, &g, &b, &end) == 3 && !arrow[end])
		return put(m, line, (size_t)(arrow - line), r << 16 | g << 8 | b);
	end = 0;
	if (arrow && sscanf(arrow, "->rgb(%3u,%3u,%3u)%n", &r, &g, &b, &end) == 3 && end &&
	    !arrow[end] && (r | g | b) <= 255)
		return put(m, line, (size_t)(arrow - line), r << 16 | g << 8 | b);
	if (!m->wrong++)
		m->first_wrong = number;
	return 0;
}

int palette_map_load(struct palette_map *m, const char *file)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	uint64_t number = 0;
	int err;

	memset(m, 0, sizeof(*m));
	err = name_table_init(&m->names);
	if (!f)
		return err ? err : errno == ENOENT ? 0 : -errno;
	while (!err && (len = getline(&line, &cap, f)) >= 0)
		err = take_line(m, line, (size_t)len, ++number);
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	fclose(f);
	return err;
}

void palette_map_free(struct palette_map *m)
{
	name_table_free(&m->names);
	free(m->rgb);
	memset(m, 0, sizeof(*m));
}

int palette_map_colors(struct palette_map *m, const struct palette *p, enum palette_by by,
		       const struct name_table *names, uint32_t **rgb)
{
	uint32_t *out = malloc(((size_t)names->n + 1) * sizeof(*out));
	int err = out ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < names->n && !err; i++) {
		const char *name = name_str(names, i);
		size_t len = name_len(names, i);
		uint32_t had = m->names.n, id;
		enum ramp ramp = palette_ramp(p, name, len);

		err = name_table_add(&m->names, name, len, &id);
		if (err)
			break;
		if (id == had) {
			if (ramp == RAMP_BY_LINK)
				ramp = palette_link_ramp(0);
			err = put(m, name, len, palette_rgb(ramp, palette_shade(by, name, len, i)));
		}
		if (!err)
			out[i] = m->rgb[id];
	}
	if (err)
		free(out);
	else
		*rgb = out;
	return err;
}

int palette_map_save(const struct palette_map *m, const char *file)
{
	size_t n = strlen(file) + 8;
	char *temp = malloc(n);
	uint32_t *rank = NULL, *order = NULL;
	FILE *f = NULL;
	int fd = -1, err = -ENOMEM;

	if (!temp)
		return -ENOMEM;
	snprintf(temp, n, "%s.XXXXXX", file);
	order = malloc(((size_t)m->names.n * 2 + 1) * sizeof(*order));
	if (!order || name_table_rank(&m->names, &rank))
		goto out;
	for (uint32_t i = 0; i < m->names.n * 2; i++)
		order[rank[i]] = i;
	fd = mkstemp(temp);
	if (fd >= 0)
		(void)!fchmod(fd, 0644); /* mkstemp() makes it 0600; if this fails, it stays so */
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		err = -errno;
		goto out;
	}
	for (uint32_t i = 0; i < m->names.n * 2; i++) {
		uint32_t id = order[i] / 2;

		if (!(order[i] & 1)) /* a name has two ranks, but gets one line */
			continue;
		fwrite(name_str(&m->names, id), 1, name_len(&m->names, id), f);
		fprintf(f, "->rgb(%u,%u,%u)\n", m->rgb[id] >> 16, m->rgb[id] >> 8 & 0xff,
			m->rgb[id] & 0xff);
	}
	err = fflush(f) || ferror(f) || rename(temp, file) ? -errno : 0;
out:
	if (err && fd >= 0)
		unlink(temp);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	free(temp);
	free(rank);
	free(order);
	return err;
}
