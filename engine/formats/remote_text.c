// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote_text.h"

#include <errno.h>
#include <stdlib.h>

#include "remote_wait.h"

/* The text of one machine, made when it is needed: each hop of a chain needs one of its own. */
struct host_text {
	struct names *names;
	struct chain_text text;
	bool made;
};

struct remote_texts {
	const struct joined_host *hosts;
	const struct options *options;
	uint32_t n;
	uint32_t hops; /* of the chain that is being put */
	struct host_text texts[];
};

int remote_texts_new(struct remote_texts **out, const struct joined_host *hosts, uint32_t n,
		     const struct options *o)
{
	struct remote_texts *r =
		calloc(1, sizeof(*r) + (size_t)n * REMOTE_HOPS_MAX * sizeof(r->texts[0]));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->hosts = hosts;
	r->options = o;
	r->n = n;
	return 0;
}

void remote_texts_free(struct remote_texts *r)
{
	for (uint32_t i = 0; r && i < r->n * REMOTE_HOPS_MAX; i++) {
		if (!r->texts[i].made)
			continue;
		chain_text_free(&r->texts[i].text);
		names_free(r->texts[i].names);
	}
	free(r);
}

static struct chain_text *text_of(struct remote_texts *r, uint32_t host, struct chain_text *above)
{
	struct host_text *h = &r->texts[r->hops * r->n + host];
	const struct timelines *tl = r->hosts[host].timelines;
	int err = 0;

	if (!h->made) {
		h->made = true;
		err = names_new(&h->names, tl, r->options);
		err = chain_text_init(&h->text, above->out, tl, r->options, h->names) || err;
		h->text.of_client = true;
		h->text.out_of_memory = err;
	}
	return &h->text;
}

/* "of that hostb had the request for 680.000 us: [request tcp :80] S", and who answered it. */
static void put_remote(void *arg, struct chain_text *above, uint32_t number, uint64_t ns,
		       unsigned int level)
{
	struct remote_texts *r = arg;
	struct remote_wait w;
	struct chain_text *t;
	uint32_t name;

	if (r->hops == REMOTE_HOPS_MAX ||
	    !remote_wait_find(&w, r->hosts, r->n, above->timelines, number))
		return;
	t = text_of(r, w.host, above);
	if (t->out_of_memory) {
		above->out_of_memory = true;
		return;
	}
	chain_text_indent(above, level);
	fputs("of that ", above->out);
	print_clean(above->out, r->hosts[w.host].name);
	fputs(" had the request for ", above->out);
	chain_text_time(above, ns);
	name = names_thread(t->names, w.wait.thread, w.wait.wait->out_ns);
	fprintf(above->out, ": %s\n", names_text(t->names, name));
	t->left = above->left + (int)(2 * (level + 1));
	r->hops++;
	remote_texts_use(r, t);
	if (!name || wait_tree_make(&t->wait, &w.wait)) {
		t->out_of_memory = true;
	} else if (t->wait.n_items) {
		if (t->wait.items[0].ends_ns[CHAIN_UNKNOWN]) {
			chain_text_indent(t, 0);
			fputs("who answered is not known\n", t->out);
		}
		chain_text_links(t, &t->wait.items[0], 0);
	}
	r->hops--;
	above->out_of_memory |= t->out_of_memory;
}

void remote_texts_use(struct remote_texts *r, struct chain_text *t)
{
	t->put_remote = put_remote;
	t->remote_arg = r;
}
