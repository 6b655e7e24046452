// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=otlp: links of requests to their spans, and whose control group a resource is. */
#include "test.h"

#include "export_read.h"

static struct field inner(struct field f, uint32_t number, size_t n)
{
	return field_of(f.p, f.len, number, n);
}

/* The n-th entry of a table of the dictionary. */
static struct field entry(const struct bytes *b, uint32_t table, size_t n)
{
	return inner(field_of(b->p, b->len, 2, 0), table, n);
}

static void put_hex(FILE *out, struct field f)
{
	for (size_t i = 0; i < f.len; i++)
		fprintf(out, "%02x", f.p[i]);
}

/* Of each link after the empty one, a line "TRACE SPAN". */
static char *links(const struct bytes *b)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(inner(entry(b, 4, 0), 1, 0).len, 16);
	assert_int_equal(inner(entry(b, 4, 0), 2, 0).len, 8);
	for (size_t i = 1; entry(b, 4, i).number; i++) {
		put_hex(out, inner(entry(b, 4, i), 1, 0));
		putc(' ', out);
		put_hex(out, inner(entry(b, 4, i), 2, 0));
		putc('\n', out);
	}
	fclose(out);
	return text;
}

/* One trace has requests of one span, one of two: which one a sample is of is not known. */
TEST(requests_have_links_to_their_spans)
{
	static const char script[] = "thread S *\n"
				     "0 c0 - R > S\n"
				     "60 c0 S context 10000000000000000c0ffee 7 /cart\n"
				     "100 c0 S request tcp::80 conn=1 arrived=50 taken=50\n"
				     "110 c0 S context c0ffee 7 /cart\n"
				     "200 c0 S request tcp::80 conn=1 arrived=105 taken=105\n"
				     "210 c0 S context c0ffee 8 /cart\n"
				     "300 c0 S request tcp::80 conn=1 arrived=205 taken=205\n"
				     "310 c0 S context c0ffee 9 /pay\n"
				     "400 c0 S request tcp::80 conn=1 arrived=305 taken=305\n"
				     "410 c0 S context -\n"
				     "900 c0 S request tcp::81 conn=2 arrived=400 taken=450\n"
				     "end 1000\n";
	struct options o = script_options(119);
	struct bytes b;

	o.requests = true;
	b = script_exported(script, &o, "otlp");
	expect_text(links(&b), "00000000010000000000000000c0ffee 0000000000000007\n"
			       "00000000000000000000000000c0ffee 0000000000000000\n"
			       "00000000000000000000000000c0ffee 0000000000000009\n");
	free(b.p);
}

/* Of each attribute whose key begins with this, a line "KEY=VALUE", in their order. */
static char *attributes(const struct bytes *b, const char *prefix)
{
	struct field pair, key, value;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 1; (pair = entry(b, 6, i)).number; i++) {
		key = entry(b, 5, inner(pair, 1, 0).v);
		value = inner(inner(pair, 2, 0), 1, 0);
		if (key.len > strlen(prefix) && !memcmp(key.p, prefix, strlen(prefix)))
			fprintf(out, "%.*s=%.*s\n", (int)key.len, (const char *)key.p,
				(int)value.len, (const char *)value.p);
	}
	fclose(out);
	return text;
}

TEST(routes_of_http_are_called_as_others_call_them)
{
	struct options o = script_options(119);
	struct bytes b;

	o.requests = true;
	b = script_exported(
		"thread S *\n"
		"0 c0 - R > S\n"
		"100 c0 S request tcp::80 conn=1 arrived=50 taken=50 route=POST+/cart/items\n"
		"200 c0 S request tcp::90 conn=2 arrived=105 taken=105 route=SELECT+orders\n"
		"end 1000\n",
		&o, "otlp");
	expect_text(attributes(&b, "http."), "http.request.method=POST\nhttp.route=/cart/items\n");
	free(b.p);
}

TEST(routes_of_databases_are_called_as_others_call_them)
{
	struct options o = script_options(119);
	struct bytes b;
	char *db, *messaging, *rpc;

	o.requests = true;
	b = script_exported(
		"thread S *\n"
		"0 c0 - R > S\n"
		"100 c0 S request tcp::90 conn=2 arrived=50 taken=50 route=SELECT+orders "
		"protocol=MySQL\n"
		"200 c0 S request tcp::91 conn=3 arrived=150 taken=150 route=CONFIG+GET "
		"protocol=redis\n"
		"300 c0 S request tcp::92 conn=4 arrived=250 taken=250 route=[startup] "
		"protocol=PostgreSQL\n"
		"400 c0 S request tcp::92 conn=4 arrived=350 taken=350 route=EXECUTE+[not+known] "
		"protocol=PostgreSQL\n"
		"500 c0 S request tcp::93 conn=5 arrived=450 taken=450 route=Fetch+clicks "
		"protocol=Kafka\n"
		"600 c0 S request tcp::94 conn=6 arrived=550 taken=550 route=GET "
		"protocol=of_a_newer\n"
		"700 c0 S request tcp::95 conn=7 arrived=650 taken=650 "
		"route=POST+/shop.Cart/AddItem protocol=gRPC\n"
		"end 1000\n",
		&o, "otlp");
	db = attributes(&b, "db.");
	messaging = attributes(&b, "messaging.");
	expect_text(db, "db.system.name=mysql\n"
			"db.operation.name=SELECT\n"
			"db.collection.name=orders\n"
			"db.system.name=redis\n"
			"db.operation.name=CONFIG GET\n"
			"db.system.name=postgresql\n"
			"db.operation.name=EXECUTE\n");
	expect_text(messaging, "messaging.system=kafka\n"
			       "messaging.operation.name=Fetch\n"
			       "messaging.destination.name=clicks\n");
	rpc = attributes(&b, "rpc.");
	expect_text(rpc, "rpc.system.name=grpc\nrpc.method=shop.Cart/AddItem\n");
	free(b.p);
}

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "2f1d0f5c-1d3c-4b8e-9a51-0c7d5b5f2b11"

/* Of each resource a line with its attributes. */
static char *resources(const struct bytes *b)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct field r;

	for (size_t i = 0; (r = field_of(b->p, b->len, 1, i)).number; i++) {
		struct field resource = inner(r, 1, 0), pair;

		for (size_t k = 0; (pair = inner(resource, 1, k)).number; k++) {
			struct field key = inner(pair, 1, 0);
			struct field value = inner(inner(pair, 2, 0), 1, 0);

			fprintf(out, "%.*s=%.*s ", (int)key.len, (const char *)key.p,
				(int)value.len, (const char *)value.p);
		}
		putc('\n', out);
	}
	fclose(out);
	return text;
}

TEST(control_groups_are_resources)
{
	struct options o;
	struct bytes b;

	options_init(&o);
	b = script_exported("thread A *\n"
			    "thread B *\n"
			    "thread C *\n"
			    "thread D *\n"
			    "10 c0 A in-group /system.slice/docker-" CONTAINER ".scope\n"
			    "10 c0 B in-group /kubepods.slice/kubepods-pod2f1d0f5c_1d3c_4b8e_9a51_"
			    "0c7d5b5f2b11.slice/cri-containerd-" CONTAINER ".scope\n"
			    "10 c0 C in-group /system.slice/nginx.service\n"
			    "20 c0 - R > A\n"
			    "30 c0 A S > B\n"
			    "40 c0 B S > C\n"
			    "50 c0 C S > D\n"
			    "60 c0 D S > -\n"
			    "end 100\n",
			    &o, "otlp");
	expect_text(resources(&b),
		    "host.name=testhost \n"
		    "process.linux.cgroup=/system.slice/docker-" CONTAINER
		    ".scope container.id=" CONTAINER
		    " service.name=docker/0123456789ab host.name=testhost \n"
		    "process.linux.cgroup=/kubepods.slice/kubepods-pod2f1d0f5c_1d3c_4b8e_9a51_"
		    "0c7d5b5f2b11.slice/cri-containerd-" CONTAINER ".scope container.id=" CONTAINER
		    " k8s.pod.uid=" POD
		    " service.name=pod2f1d0f5c/0123456789ab host.name=testhost \n"
		    "process.linux.cgroup=/system.slice/nginx.service service.name=nginx.service "
		    "host.name=testhost \n");
	free(b.p);
}
