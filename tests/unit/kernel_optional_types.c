// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF programs ask for whatever the kernel's types may lack before they use it, so that a
 * kernel without it takes them, too. Which these are is read from the object; a kernel without one
 * is this one, with types in which that has another name. Needs rights.
 */

#define OWN_MAIN
#include "test.h"

#include <bpf/btf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bpf_private.h"
#include "may_record.h"

#define OPTIONAL_MAX 100

/* A member of a struct, a value of an enum, or with an empty name the type itself. */
struct optional {
	char type[64], name[64];
};

/* These have another name in kernels that lack them, which this one has not. */
static const struct optional renamed[] = {
	{ "task_struct", "__state" }, { "thread_info", "cpu" }, { "kernfs_node", "__parent" },
	{ "mm_struct", "mm_mt" },     { "file_lock_core", "" },
};

/* A file with the kernel's types, by which libbpf goes. */
static char types[] = "/tmp/chain-types.XXXXXX";

int __real_bpf_object__open_skeleton(struct bpf_object_skeleton *s,
				     const struct bpf_object_open_opts *opts);
int __wrap_bpf_object__open_skeleton(struct bpf_object_skeleton *s,
				     const struct bpf_object_open_opts *opts);

int __wrap_bpf_object__open_skeleton(struct bpf_object_skeleton *s,
				     const struct bpf_object_open_opts *opts)
{
	LIBBPF_OPTS(bpf_object_open_opts, own, .btf_custom_path = types);

	(void)opts;
	return __real_bpf_object__open_skeleton(s, &own);
}

/* struct btf_ext_header of libbpf: where the relocations by the kernel's types are. */
struct ext_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t header_bytes;
	uint32_t func_at, func_bytes, line_at, line_bytes, relo_at, relo_bytes;
};

/* The bytes of a section of the usual programs' object; borrowed. */
static const void *section(const char *name, size_t *size)
{
	size_t elf_size, names;
	const void *bytes = chaincap_bpf__elf_bytes(&elf_size);
	Elf_Scn *scn = NULL;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)bytes, elf_size);
	assert_non_null(elf);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr head;

		assert_non_null(gelf_getshdr(scn, &head));
		if (strcmp(elf_strptr(elf, names, head.sh_name), name))
			continue;
		*size = head.sh_size;
		elf_end(elf);
		return (const char *)bytes + head.sh_offset;
	}
	fail_msg("no section %s", name);
	return NULL;
}

/* A name up to the part that distinguishes kernels: "___". */
static void copy_name(char to[64], const char *name)
{
	const char *flavour = strstr(name, "___");

	snprintf(to, 64, "%.*s", flavour ? (int)(flavour - name) : 63, name);
}

/* What a relocation asks for: at each step of path, "0:1:2", a member of the type before it. */
static void put_asked(struct optional *o, const struct btf *btf, uint32_t id, const char *path)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	char *next = NULL;

	strtoul(path, &next, 10); /* an element of the pointer's target */
	copy_name(o->type, btf__name_by_offset(btf, t->name_off));
	o->name[0] = '\0';
	while (*next == ':') {
		unsigned long i = strtoul(next + 1, &next, 10);

		while (btf_is_mod(t) || btf_is_typedef(t))
			t = btf__type_by_id(btf, t->type);
		assert_true(btf_is_composite(t));
		if (t->name_off)
			copy_name(o->type, btf__name_by_offset(btf, t->name_off));
		copy_name(o->name, btf__name_by_offset(btf, btf_members(t)[i].name_off));
		t = btf__type_by_id(btf, btf_members(t)[i].type);
	}
}

static void add(struct optional *list, size_t *n, const struct optional *o)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(list[i].type, o->type) && !strcmp(list[i].name, o->name))
			return;
	assert_true(*n < OPTIONAL_MAX);
	list[(*n)++] = *o;
}

/* What the programs ask for, by the object's relocations. Returns how many. */
static size_t list_optional(struct optional *list)
{
	size_t btf_size, ext_size, n = 0;
	const void *btf_bytes = section(".BTF", &btf_size);
	const struct ext_header *h = section(".BTF.ext", &ext_size);
	struct btf *btf = btf__new(btf_bytes, (uint32_t)btf_size);
	const uint32_t *at = (const void *)((const char *)h + h->header_bytes + h->relo_at);
	const uint32_t *end = at + h->relo_bytes / 4;

	assert_non_null(btf);
	assert_int_equal(*at++, sizeof(struct bpf_core_relo));
	while (at < end) {
		const struct bpf_core_relo *r = (const void *)(at + 2);
		uint32_t relocations = at[1];

		for (uint32_t i = 0; i < relocations; i++) {
			const char *path = btf__name_by_offset(btf, r[i].access_str_off);
			struct optional o = { 0 };

			if (r[i].kind == BPF_CORE_FIELD_EXISTS ||
			    r[i].kind == BPF_CORE_TYPE_EXISTS) {
				put_asked(&o, btf, r[i].type_id, path);
			} else if (r[i].kind == BPF_CORE_ENUMVAL_EXISTS) {
				const struct btf_type *t = btf__type_by_id(btf, r[i].type_id);

				copy_name(o.type, btf__name_by_offset(btf, t->name_off));
				copy_name(o.name,
					  btf__name_by_offset(
						  btf,
						  btf_enum(t)[strtoul(path, NULL, 10)].name_off));
			} else {
				continue;
			}
			add(list, &n, &o);
		}
		at = (const void *)(r + relocations);
	}
	btf__free(btf);
	return n;
}

/* Gives a member of a struct, or of one without a name in it, another name. */
static bool hide_member(const struct btf *btf, const struct btf_type *t, const char *name,
			uint32_t absent)
{
	bool is_hidden = false;

	for (uint32_t i = 0; btf_is_composite(t) && i < btf_vlen(t); i++) {
		struct btf_member *m = &btf_members(t)[i];

		if (!m->name_off) {
			is_hidden |= hide_member(btf, btf__type_by_id(btf, m->type), name, absent);
		} else if (!strcmp(btf__name_by_offset(btf, m->name_off), name)) {
			m->name_off = absent;
			is_hidden = true;
		}
	}
	for (uint32_t i = 0; btf_is_enum(t) && i < btf_vlen(t); i++) {
		struct btf_enum *e = &btf_enum(t)[i];

		if (!strcmp(btf__name_by_offset(btf, e->name_off), name)) {
			e->name_off = absent;
			is_hidden = true;
		}
	}
	return is_hidden;
}

/* Gives what is asked for another name in the kernel's types. Returns whether it was there. */
static bool hide(struct btf *btf, const struct optional *o)
{
	int absent = btf__add_str(btf, "absent");
	bool is_hidden = false;

	assert_true(absent > 0);
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *t = (struct btf_type *)(uintptr_t)btf__type_by_id(btf, id);

		if (strcmp(btf__name_by_offset(btf, t->name_off), o->type))
			continue;
		if (o->name[0]) {
			is_hidden |= hide_member(btf, t, o->name, (uint32_t)absent);
		} else if (btf_is_composite(t)) {
			t->name_off = (uint32_t)absent;
			is_hidden = true;
		}
	}
	return is_hidden;
}

static void use_types(const struct btf *btf)
{
	uint32_t size;
	const void *bytes = btf__raw_data(btf, &size);
	FILE *f = fopen(types, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* Whether a kernel with these types takes the usual programs. */
static bool takes_usual_programs(void)
{
	struct bpf_options o = {
		.kernel_stacks = true,
		.user_stacks = true,
		.objects = true,
		.disk_requests = true,
		.requests = true,
		.contexts = true,
		.code = (1u << WIRE_LANGUAGES) - 1,
		.interrupts = true,
		.quiet = true,
	};
	struct bpf_session *session;
	char why[300] = "";
	bool takes = !bpf_session_open(&session, &o, why, sizeof(why));

	if (!takes)
		return false;
	takes = bpf_session_programs(session) == BPF_USUAL;
	bpf_session_close(session);
	return takes;
}

static bool has_other_name(const struct optional *o)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(renamed[i].type, o->type) && !strcmp(renamed[i].name, o->name))
			return true;
	return false;
}

static int make_types(void **state)
{
	int fd = mkstemp(types);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static int remove_types(void **state)
{
	(void)state;
	return unlink(types);
}

static void skip_if_others_are_taken(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	skip_if_refused();
	use_types(btf);
	btf__free(btf);
	if (!takes_usual_programs()) {
		print_message("this kernel refuses the usual BPF programs\n");
		skip();
	}
}

TEST(all_may_be_missing)
{
	static struct optional list[OPTIONAL_MAX];
	size_t n = list_optional(list), hidden = 0;
	struct btf *btf;

	skip_if_others_are_taken();
	btf = btf__load_vmlinux_btf();
	for (size_t i = 0; i < n; i++)
		hidden += !has_other_name(&list[i]) && hide(btf, &list[i]);
	use_types(btf);
	btf__free(btf);
	print_message("%zu of %zu are hidden\n", hidden, n);
	assert_true(hidden > n / 2);
	assert_true(takes_usual_programs());
}

TEST(each_may_be_missing)
{
	static struct optional list[OPTIONAL_MAX];
	size_t n = list_optional(list), refused = 0;

	if (!getenv("ALL")) {
		print_message("takes half a minute: make test-all\n");
		skip();
	}
	skip_if_others_are_taken();
	for (size_t i = 0; i < n; i++) {
		struct btf *btf = btf__load_vmlinux_btf();

		if (!has_other_name(&list[i]) && hide(btf, &list[i])) {
			use_types(btf);
			if (!takes_usual_programs()) {
				print_message("refused without %s.%s\n", list[i].type,
					      list[i].name);
				refused++;
			}
		}
		btf__free(btf);
	}
	assert_int_equal(refused, 0);
}

int main(void)
{
	return cmocka_run_group_tests(tests, make_types, remove_types);
}
