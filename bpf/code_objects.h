/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_objects.h - gives ids to the code objects of the frames that interpreter.h has found, sends
 * what is new of them, and adds the frames to a stack. Part of chaincap.bpf.c.
 */
#pragma once

/* Global, so that it is verified once. */
__noinline int read_text(struct code_chain *c, struct wire_code_text *t,
			 const struct wire_interpreter *in, __u64 string, bool is_path)
{
	__u64 chars = 0, skip = 0, data, bytes, most = WIRE_CODE_TEXT;
	__u32 state = 0, width;

	if (!c || !t || !in)
		return 0;
	t->bytes = 0;
	t->width = 0;
	t->cut = 0;
	if (!string ||
	    (in->language < WIRE_RUBY && !read_words(&chars, 1, string + WIRE_LENGTH_AT)))
		return 0;
	data = string + in->ascii;
	if (is_in(in, WIRE_RUBY)) {
		if (!ruby_string(c->words, in, string))
			return 0;
		data = c->words[RUBY_DATA];
		chars = c->words[RUBY_BYTES];
	}
	if (in->language == WIRE_PYTHON) {
		if (bpf_probe_read_user(&state, sizeof(state), (void *)string + WIRE_TEXT_STATE_AT))
			return 0;
		width = state >> 2 & 7;
		/* Not compact: the characters are elsewhere. */
		if (!(state & 32) || (width != 1 && width != 2 && width != 4))
			return 0;
		if (!(state & 64))
			data = string + in->other;
		t->width = (__u8)width;
		most >>= width >> 1;
	}
	if (is_in(in, WIRE_V8)) {
		if (!v8_string(c, string))
			return 0;
		data = c->words[V8_DATA];
		chars = c->words[V8_CHARS];
		t->width = c->words[V8_WIDTH] == 2 ? 2 : 1;
		most >>= t->width >> 1;
	}
	if (chars > most) {
		if (is_path)
			skip = chars - most;
		chars = most;
		t->cut = 1;
	}
	bytes = chars * (t->width ? t->width : 1);
	skip *= t->width ? t->width : 1;
	barrier_var(bytes);
	if (bytes <= WIRE_CODE_TEXT &&
	    !bpf_probe_read_user(t->text, (__u32)bytes, (void *)data + skip))
		t->bytes = (__u16)bytes;
	return 0;
}

static __always_inline void read_lines(struct wire_code *r, __u64 bytes_object)
{
	__u64 n = 0;
	__u32 len;

	r->n_lines = 0;
	if (!bytes_object || !read_words(&n, 1, bytes_object + WIRE_LENGTH_AT))
		return;
	len = n > WIRE_CODE_LINES ? WIRE_CODE_LINES : (__u32)n;
	barrier_var(len);
	if (len <= WIRE_CODE_LINES &&
	    !bpf_probe_read_user(r->lines, len, (void *)bytes_object + WIRE_BYTES_AT))
		r->n_lines = len;
}

static __always_inline bool is_text(const struct wire_code_text *t, char first)
{
	return t->bytes > 1 && t->text[0] == first;
}

/* Fills the record by the object in c->object, or by c->v8. */
__noinline int describe_code(struct code_chain *c, const struct wire_interpreter *in)
{
	__u64 name, file, scope = 0;
	struct wire_code *r;
	const char *o;

	if (!find_code || !c || !in)
		return 0;
	r = &c->record;
	o = c->object;
	r->language = in->language;
	r->version = in->version;
	r->first_line = FIELD_OF(o, in->first_line, WIRE_CODE_BYTES, __u32);
	r->n_lines = 0;
	name = CODE_WORD(o, in->name);
	file = CODE_WORD(o, in->file);
	if (in->language == WIRE_PYTHON)
		read_lines(r, CODE_WORD(o, in->lines));
	if (is_in(in, WIRE_RUBY))
		file = ruby_path(c->words, file);
	if (in->language == WIRE_PHP) {
		scope = CODE_WORD(o, in->scope);
		if (scope && !read_words(&scope, 1, scope + in->in_scope))
			scope = 0;
	}
	/* An internal function has no file. */
	if (in->language == WIRE_PHP && o[0] == WIRE_PHP_INTERNAL)
		file = r->first_line = 0;
	if (is_in(in, WIRE_V8)) {
		name = c->v8.name;
		file = 0;
		r->first_line = (__u32)c->v8.line;
		if (c->v8.script)
			read_words(&file, 1, c->v8.script - WIRE_V8_TAG + WIRE_V8_SCRIPT_NAME);
	}
	read_text(c, &r->name, in, name, false);
	read_text(c, &r->scope, in, scope, false);
	read_text(c, &r->file, in, file, true);
	return 0;
}

/* Whether the object in c->object, as it was described, is likely to be freed. */
static __noinline bool will_be_freed(struct code_chain *c, const struct wire_interpreter *in)
{
	const struct wire_code *r = &c->record;
	__u32 kind = *(const __u32 *)c->object;

	/* Code of no file: of eval(). */
	if (is_in(in, WIRE_V8))
		return c->v8.script && !r->file.bytes;
	/* Code of no file; what is in a file's body, or in that of a class. */
	if (is_in(in, WIRE_RUBY))
		return is_text(&r->file, '(') ||
		       ruby_begins(c->words, in, CODE_WORD(c->object, in->scope)) == '<' ||
		       (kind != WIRE_RUBY_METHOD && kind != WIRE_RUBY_BLOCK &&
			kind != WIRE_RUBY_RESCUE && kind != WIRE_RUBY_ENSURE);
	/* "<string>", but not "<frozen importlib>"; "<module>". */
	return (is_text(&r->file, '<') && r->file.text[1] != 'f') ||
	       (is_text(&r->name, '<') && r->name.text[1] == 'm');
}

/* Sends the object in c->object under an id, if this CPU did not. */
static __always_inline void send_code(struct code_chain *c, const struct wire_interpreter *in,
				      __u32 id, struct known_code *known)
{
	struct wire_code *r = &c->record;
	__u32 zero = 0, len, *sent;
	struct sent_codes *all = bpf_map_lookup_elem(&codes_sent, &zero);
	void *ring = this_ring();

	if (!all || !ring)
		return;
	sent = ELEMENT(all->ids, id);
	if (*sent == id)
		return;
	if (is_in(in, WIRE_V8) && !known->line)
		known->line = v8_line(c);
	c->v8.line = known->line;
	describe_code(c, in);
	known->is_volatile = will_be_freed(c, in);
	fill_record(&r->r, c->now, WIRE_CODE);
	r->id = id;
	r->tgid = bpf_get_current_task_btf()->tgid;
	len = r->n_lines;
	barrier_var(len);
	if (len <= WIRE_CODE_LINES &&
	    !bpf_ringbuf_output(ring, r, __builtin_offsetof(struct wire_code, lines) + len,
				BPF_RB_NO_WAKEUP))
		*sent = id;
}

static __noinline __u64 place_in(struct code_chain *c, const struct wire_interpreter *in,
				 const struct code_place *p)
{
	__u32 line = 0;

	if (is_in(in, WIRE_RUBY))
		return ruby_line(c->words, in, c->object, p->instruction);
	if (in->language == WIRE_PHP) {
		if (c->object[0] != WIRE_PHP_INTERNAL && p->instruction)
			bpf_probe_read_user(&line, sizeof(line), (void *)p->instruction + in->line);
		return line;
	}
	if (in->bytecode)
		return (p->instruction - p->code - in->bytecode) >> 1;
	/* Since 3.10 it counts units of two bytes, before that bytes; -1: it has not begun. */
	return in->version < 10 ? (__s32)p->instruction >> 1 : p->instruction;
}

/*
 * Whether the object in c->object, with that hash, is the code of frame p; and finds out whether p
 * is an entry, which frames of Ruby's have elsewhere.
 */
static __noinline bool is_code_of(struct code_chain *c, const struct wire_interpreter *in,
				  struct code_place *p, __u64 hash)
{
	__u64 at = p->is_entry, n = *(const __u64 *)c->object >> 32;
	__u8 *flags = (__u8 *)c->words;

	if (is_in(in, WIRE_V8))
		return hash;
	if (!is_in(in, WIRE_RUBY))
		return true;
	*flags = 0;
	bpf_probe_read_user(flags, sizeof(*flags), (void *)at);
	p->is_entry = (*flags & in->entry_mask) == in->entry_is;
	/* Without lines it is what the interpreter begins with. */
	return hash && p->instruction - CODE_WORD(c->object, in->bytecode) <= n * 8 &&
	       (__u32)CODE_WORD(c->object, in->lines + WIRE_RUBY_LINES_N);
}

/* Frame p, whose code has that id, as in a stack; 0: it is none of the program's. */
static __always_inline __u64 frame_of(struct code_chain *c, const struct wire_interpreter *in,
				      const struct code_place *p, __u32 id)
{
	if (is_in(in, WIRE_V8))
		return wire_code_frame(id, p->is_entry, 0);
	return wire_code_frame(id, id ? place_in(c, in, p) : 0, p->is_entry != 0);
}

static long name_code(__u32 i, struct code_walk *w)
{
	const struct wire_interpreter *in = w->in;
	struct code_chain *c = w->c;
	struct known_code *new = &c->named, *known;
	struct code_key *key = &c->key;
	__u64 hash;

	if (i >= WIRE_CODE_FRAMES || i >= c->n)
		return 1;
	if (in->shim && c->at[i].is_entry) {
		c->frames[i] = wire_code_frame(0, 0, 1);
		return 0;
	}
	key->space = c->space;
	key->address = c->at[i].code;
	hash = read_object(c, in, &c->at[i]);
	if (is_in(in, WIRE_V8)) {
		key->address = c->v8.shared;
		c->is_torn |= !hash;
	}
	if (!is_code_of(c, in, &c->at[i], hash)) {
		c->frames[i] = frame_of(c, in, &c->at[i], 0);
		return 0;
	}
	known = bpf_map_lookup_elem(&codes, key);
	if (known)
		*new = *known;
	else
		__builtin_memset(new, 0, sizeof(*new));
	if (new->id &&new->hash != hash && !new->is_volatile && !is_in(in, WIRE_V8))
		w->in->is_volatile = 1;
	if (!new->id || new->hash != hash) {
		new->id = (__sync_fetch_and_add(&last_code_id, 1) & (WIRE_CODE_IDS - 1)) + 1;
		new->hash = hash;
		new->line = 0;
	}
	new->moved = (__u16)in->v8.moved;
	send_code(c, in, new->id, new);
	if (!known || known->id != new->id || known->is_volatile != new->is_volatile ||
	    known->line != new->line)
		bpf_map_update_elem(&codes, key, new, BPF_ANY);
	if (is_in(in, WIRE_V8)) {
		key->address = c->at[i].code;
		bpf_map_update_elem(&codes, key, new, BPF_ANY);
	}
	/* The outermost frame is there as long as its thread. */
	if (new->is_volatile && i + 1 < c->n)
		c->reread[i / 64] |= 1ull << (i & 63);
	c->frames[i] = frame_of(c, in, &c->at[i], new->id);
	return 0;
}

LOOP(name_code, struct code_walk, WIRE_CODE_FRAMES)

/*
 * Gives ids to the code of the frames that find_code_frames() found, and fills in code_chain's
 * frames. Returns the hash of these frames, which may be another one now.
 */
__noinline __u64 name_code_frames(__u32 which, __u64 space, __u64 now, __u64 hash)
{
	struct code_walk w = { 0 };
	struct volatile_chain *v;
	struct code_chain *c;

	if (!find_code)
		return hash;
	w.c = c = bpf_map_lookup_elem(&code_chains, &which);
	w.in = interpreter_of(bpf_get_current_task_btf()->tgid);
	if (!c || !w.in)
		return hash;
	c->space = space;
	c->now = now;
	c->reread[0] = c->reread[1] = 0;
	c->is_torn = 0;
	c->lines.budget = WIRE_V8_STACK_BYTES;
	loop_name_code(&w);
	/* Not for long: objects were just being moved. */
	if (c->is_torn)
		return mix(hash, now >> 30) | 1;
	if (w.in->is_volatile || !(c->reread[0] | c->reread[1]))
		return hash;
	v = ELEMENT(volatile_chains, c->plain);
	v->frames[0] = c->reread[0];
	v->frames[1] = c->reread[1];
	v->check = check_of(c, c->reread);
	c->hash = c->plain;
	loop_hash_object(&w);
	return c->hash | 1;
}

/* Appends the frames to the s->n native ones. Returns how many there are in all. */
__noinline __u32 append_code(struct wire_stack *s, __u32 which)
{
	__u32 tgid = bpf_get_current_task_btf()->tgid, n, at;
	const struct wire_interpreter *in;
	struct code_chain *c;

	if (!s)
		return 0;
	at = s->n;
	if (!find_code)
		return at;
	c = bpf_map_lookup_elem(&code_chains, &which);
	in = interpreter_of(tgid);
	if (!c || !in)
		return at;
	n = (__u32)c->n;
	/* Bounded here: the verifier of 6.1 loses the bounds of spilled values. */
	barrier_var(at);
	barrier_var(n);
	if (at > WIRE_STACK_MAX || n > WIRE_CODE_FRAMES ||
	    bpf_probe_read_kernel(s->frames + at, n * sizeof(s->frames[0]), c->frames))
		return at;
	s->n_code = n;
	s->eval_start = in->eval_start;
	s->eval_end = in->eval_end;
	return at + n;
}

/* The same for a stack that the collector completes. */
static __always_inline void copy_code(struct wire_copy *copy, __u32 which)
{
	__u32 tgid = bpf_get_current_task_btf()->tgid, n;
	struct code_chain *c = bpf_map_lookup_elem(&code_chains, &which);
	const struct wire_interpreter *in = interpreter_of(tgid);

	if (!c || !in)
		return;
	n = (__u32)c->n;
	barrier_var(n);
	if (n > WIRE_CODE_FRAMES ||
	    bpf_probe_read_kernel(copy->code, n * sizeof(copy->code[0]), c->frames))
		return;
	copy->n_code = n;
	copy->eval_start = in->eval_start;
	copy->eval_end = in->eval_end;
}
