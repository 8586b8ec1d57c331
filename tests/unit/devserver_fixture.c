/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server, its clock and its kinds for unit tests.
 *
 * Links no libloop: the clock's functions are here, and stand still until a test moves them.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "tests/unit/devserver_fixture.h"

#define START 1796083200000000000LL /* 2026-11-30T24:00:00Z */

static int64_t passed;
static uint64_t random_state;

int64_t
clock_monotonic_ns(void)
{
	return 1000 * NSEC_PER_SEC + passed;
}

int64_t
clock_wall_ns(void)
{
	return START + passed;
}

uint64_t
clock_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 11;
}

void
clock_random_bytes(void *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)out)[i] = (unsigned char)clock_random();
}

void
fixture_reset(void)
{
	passed = 0;
	random_state = 42;
}

void
fixture_advance(struct api *api, int64_t ns)
{
	passed += ns;
	api_tick(api);
}

static char *
requote(const char *text)
{
	char *copy = xstrdup(text);

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	return copy;
}

cJSON *
fixture_parse(const char *quoted)
{
	struct error err = {0};
	char *text = requote(quoted);
	cJSON *tree = json_parse(text, strlen(text), &err);

	ck_assert_msg(tree != NULL, "%s: %s", text, err.text);
	free(text);
	return tree;
}

cJSON *
fixture_ask(struct api *api, int status, const char *method, const char *path, const char *type,
	const char *body)
{
	char *text = requote(body ? body : "");
	struct api_request request = {.method = method,
		.path = path,
		.content_type = type,
		.user = "admin",
		.user_agent = "test",
		.body = text,
		.body_length = strlen(text)};
	struct api_response response = API_RESPONSE_INIT;
	cJSON *tree;

	api_handle(api, &request, &response);
	ck_assert_msg(response.status == status, "%s %s: %d, not %d: %s", method, path,
		response.status, status, response.body.data);
	tree = json_parse(response.body.data, response.body.length, NULL);
	if (!tree)
		tree = cJSON_CreateString(response.body.data);
	api_tick(api);
	api_response_free(&response);
	free(text);
	return tree;
}

void
fixture_do(struct api *api, int status, const char *method, const char *path, const char *type,
	const char *body)
{
	cJSON_Delete(fixture_ask(api, status, method, path, type, body));
}

void
fixture_is(const cJSON *value, const char *expected)
{
	struct buf is = BUF_INIT, want = BUF_INIT;
	cJSON *tree = fixture_parse(expected);

	if (value)
		json_print_canonical(&is, value);
	json_print_canonical(&want, tree);
	ck_assert_str_eq(is.data, want.data);
	cJSON_Delete(tree);
	buf_free(&is);
	buf_free(&want);
}

#define SPEC                                                                                       \
	"'type':'object','properties':{'replicas':{'type':'integer','minimum':0},"                 \
	"'size':{'type':'string','default':'medium'},'list':{'type':'array','items':{'type':'"     \
	"string'}},"                                                                               \
	"'tags':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},"        \
	"'parts':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['"   \
	"name'],"                                                                                  \
	"'items':{'type':'object','properties':{'name':{'type':'string'},'n':{'type':'integer'}}}" \
	"},"                                                                                       \
	"'map':{'type':'object','additionalProperties':{'type':'string'}}}"
#define CRD(plural, kind, extra)                                                               \
	"{'apiVersion':'apiextensions.k8s.io/"                                                 \
	"v1','kind':'CustomResourceDefinition','metadata':{'name':'" plural                    \
	".example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{'plural':" \
	"'" plural "','kind':'" kind                                                           \
	"'},'versions':[{'name':'v1','served':true,'storage':true" extra                       \
	",'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{" SPEC            \
	"},'status':{'type':'object','properties':{'state':{'type':'string'}}}}}}}]}}"

struct api *
fixture_new(const struct api_options *options)
{
	const char *crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	struct api *api;

	fixture_reset();
	api = api_new(options);
	fixture_do(api, 201, "POST", crds, NULL,
		CRD("widgets", "Widget", ",'subresources':{'status':{}}"));
	fixture_do(api, 201, "POST", crds, NULL, CRD("plains", "Plain", ""));
	return api;
}

static void
on_line(void *data, const char *bytes, size_t length)
{
	struct fixture_watch *watch = data;

	ck_assert_int_eq(bytes[length - 1], '\n');
	buf_add(&watch->lines, bytes, length);
}

static void
on_end(void *data)
{
	((struct fixture_watch *)data)->ended++;
}

void
fixture_watch(struct api *api, struct fixture_watch *ret, const char *path)
{
	struct api_request request = {.method = "GET", .path = path, .user = "admin"};

	*ret = (struct fixture_watch){.response = API_RESPONSE_INIT, .lines = BUF_INIT};
	ck_assert(api_is_watch(&request));
	ret->watch = api_watch(api, &request, on_line, on_end, ret, &ret->response);
	ck_assert_msg(ret->watch != NULL, "%s: %s", path, ret->response.body.data);
	ck_assert_int_eq(ret->response.status, 200);
}

cJSON *
fixture_event(struct fixture_watch *watch)
{
	size_t length = strcspn(watch->lines.data, "\n");
	cJSON *tree;

	if (!watch->lines.length)
		return NULL;
	tree = json_parse(watch->lines.data, length, NULL);
	ck_assert_ptr_nonnull(tree);
	buf_consume(&watch->lines, length + 1);
	return tree;
}

void
fixture_expect(struct fixture_watch *watch, const char *type, const char *name)
{
	cJSON *event = fixture_event(watch);

	if (type) {
		ck_assert_msg(event != NULL, "no event, not %s %s", type, name);
		ck_assert_str_eq(json_string(event, "type", ""), type);
		ck_assert_str_eq(
			json_string(json_get(event, "object", "metadata", NULL), "name", ""), name);
	} else {
		ck_assert_ptr_null(event);
	}
	cJSON_Delete(event);
}

void
fixture_watch_done(struct fixture_watch *watch)
{
	api_watch_free(watch->watch);
	api_response_free(&watch->response);
	buf_free(&watch->lines);
}
