/* SPDX-License-Identifier: Apache-2.0 */
/* The world of a run: set-up, end, and what people and fate do to it. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/config/check.h"
#include "common/json.h"
#include "common/kube/kubeconfig.h"
#include "common/memory.h"
#include "common/yaml.h"
#include "tests/sim/finalized.h"
#include "tests/sim/world.h"

#define CRDS        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NGINX       "/apis/stable.underneathall.com/v1/namespaces/default/nginx"
#define UUID        "/apis/demo.operator/v1/namespaces/default/uuid"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define MERGE       "application/merge-patch+json"
#define APPLY       "application/apply-patch+yaml"

static const char *const names[WORLD_CONTROLLERS] = {"nginx", "uuid", "greeting"};

/* --- files --- */

static char *
read_crd(const char *examples, const char *name)
{
	struct buf bytes = BUF_INIT, json = BUF_INIT;
	struct yaml_place_error error = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/crds/%s.yaml", examples, name);
	if (buf_read_file(&bytes, path, 1 << 20) < 0)
		return NULL;
	struct yaml_node *node = yaml_parse(bytes.data, bytes.length, &error);
	buf_free(&bytes);
	if (!node)
		return NULL;
	cJSON *value = yaml_to_json(node);
	json_print(&json, value);
	cJSON_Delete(value);
	yaml_free(node);
	return buf_detach(&json, NULL);
}

/* The configuration of controller i, from this file. */
static struct config_controller *
read_config(const char *path, unsigned i)
{
	struct buf document = BUF_INIT, bytes = BUF_INIT;
	struct error err = {0};

	config_check(path, true, &document);
	cJSON *parsed = json_parse(document.data, document.length, &err);
	const cJSON *controller = json_get(parsed, "controllers", names[i], NULL);
	if (controller)
		json_print_canonical(&bytes, controller);
	struct config_controller *config =
		config_decode_controller(bytes.data, bytes.length, &err);
	if (!config)
		fprintf(stderr, "sim: %s: %s\n", path, err.text);
	else /* CPU time is not simulated: it must decide nothing. */
		config->render_timeout_ns = 3600 * NSEC_PER_SEC;
	cJSON_Delete(parsed);
	buf_free(&document);
	buf_free(&bytes);
	return config;
}

int
world_files_read(const char *examples, struct world_files *ret)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/operatord.yaml", examples);
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++) {
		ret->configs[i] =
			read_config(strcmp(names[i], "greeting") == 0 ? SIM_GREETING : path, i);
		ret->crds[i] = read_crd(examples, names[i]);
		if (!ret->crds[i])
			fprintf(stderr, "sim: no CRD of %s\n", names[i]);
		if (!ret->configs[i] || !ret->crds[i])
			return -ENOENT;
	}
	return 0;
}

void
world_files_free(struct world_files *files)
{
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++) {
		config_controller_free(files->configs[i]);
		free(files->crds[i]);
	}
}

/* --- controllers --- */

static void
on_state(void *data, enum worker_state state, const char *cause)
{
	struct world_runner *runner = data;

	sim_say("state %s %s", worker_state_name(state), cause);
	runner->state = state;
}

static void
on_drained(void *data)
{
	(void)data;
}

void
world_start(struct world *world, unsigned i)
{
	struct world_runner *runner = &world->runners[i];
	struct kube_target *target = xcalloc(1, sizeof(*target));
	struct error err = {0};

	if (runner->controller) {
		free(target);
		return;
	}
	target->server = xstrdup("https://sim:1");
	target->source = xstrdup("simulation");
	runner->kube = kube_new(world->loop, target, &err);
	struct controller_callbacks callbacks = {
		.state = on_state, .drained = on_drained, .data = runner};
	runner->state = WORKER_STARTING;
	if (runner->kube)
		runner->controller = controller_new(world->loop, runner->kube,
			&(struct controller_options){.config = world->files->configs[i]},
			&callbacks, &err);
	if (!runner->controller)
		sim_fail("no controller: %s", err.text);
	sim_say("controller %s starts", names[i]);
}

void
world_kill(struct world *world, unsigned i)
{
	struct world_runner *runner = &world->runners[i];

	if (!runner->controller)
		return;
	sim_say("controller %s dies", names[i]);
	controller_free(runner->controller);
	kube_free(runner->kube);
	*runner = (struct world_runner){0};
}

/* --- people --- */

static void
create(struct world *world, const char *path, const char *api_version, const char *kind,
	unsigned name)
{
	char body[512], spec[64] = "";

	(void)world;
	if (strcmp(kind, "Nginx") == 0 && sim_chance(800))
		snprintf(spec, sizeof(spec), ",\"spec\":{\"replicas\":%u}",
			1 + (unsigned)sim_below(9));
	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"o%u\","
		"\"namespace\":\"default\"}%s}",
		api_version, kind, name, spec);
	sim_call("people", "POST", path, "application/json", body, NULL);
}

static void
patch(const char *path, unsigned name, const char *suffix, const char *body)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/o%u%s", path, name, suffix);
	sim_call("people", "PATCH", full, MERGE, body, NULL);
}

static void
delete_(const char *path, unsigned name, const char *suffix)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/o%u%s", path, name, suffix);
	sim_call("people", "DELETE", full, NULL, NULL, NULL);
}

static void
change_nginx(unsigned name)
{
	char body[128];

	if (sim_chance(150))
		snprintf(body, sizeof(body), "{\"spec\":null}");
	else
		snprintf(body, sizeof(body), "{\"spec\":{\"replicas\":%u}}",
			1 + (unsigned)sim_below(9));
	patch(NGINX, name, "", body);
}

/* Somebody else takes a field of a child. */
static void
meddle(unsigned name)
{
	char path[256], body[256];

	snprintf(path, sizeof(path), DEPLOYMENTS "/o%u-deploy?fieldManager=meddler&force=true",
		name);
	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"o%u-deploy\"},\"spec\":{"
		"\"replicas\":%u}}",
		name, 20 + (unsigned)sim_below(5));
	/* An apply would make what is not there: only what exists is taken. */
	char get[256];
	snprintf(get, sizeof(get), DEPLOYMENTS "/o%u-deploy", name);
	if (sim_call("people", "GET", get, NULL, NULL, NULL) == 200)
		sim_call("meddler", "PATCH", path, APPLY, body, NULL);
}

static void
touch(const char *path, unsigned name)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"touched\":\"%u\"}}}",
		(unsigned)sim_below(1000));
	patch(path, name, "", body);
}

void
world_act(struct world *world)
{
	unsigned name = (unsigned)sim_below(WORLD_NAMES),
		 i = (unsigned)sim_below(WORLD_CONTROLLERS);

	world->actions++;
	if (sim_chance(300)) {
		finalized_act(world);
		return;
	}
	switch (sim_below(17)) {
	case 0:
	case 1:
	case 2:
		create(world, NGINX, "stable.underneathall.com/v1", "Nginx", name);
		break;
	case 3:
		create(world, UUID, "demo.operator/v1", "Uuid", name);
		break;
	case 4:
	case 5:
	case 6:
		change_nginx(name);
		break;
	case 7:
		delete_(NGINX, name, "");
		break;
	case 8:
		delete_(UUID, name, "");
		break;
	case 9:
		delete_(DEPLOYMENTS, name, "-deploy");
		break;
	case 10:
		meddle(name);
		break;
	case 11:
		touch(NGINX, name);
		break;
	case 12:
		touch(UUID, name);
		break;
	case 13:
		world_kill(world, i);
		if (sim_chance(600))
			world_start(world, i);
		break;
	case 14:
		world_start(world, i);
		break;
	case 15:
		sim_faults.outage = !sim_faults.outage && sim_chance(300);
		break;
	case 16:
		if (sim_chance(200))
			sim_jump((int64_t)sim_below(600) * NSEC_PER_SEC);
		else
			api_compact(world->api);
		break;
	}
}

/* --- set-up and end --- */

static void
draw_faults(void)
{
	static const struct sim_faults none;

	sim_faults = none;
	if (sim_chance(150))
		return;
	sim_faults = (struct sim_faults){.refused = (unsigned)sim_below(60),
		.lost_request = (unsigned)sim_below(60),
		.lost_answer = (unsigned)sim_below(80),
		.throttled = (unsigned)sim_below(60),
		.failed = (unsigned)sim_below(60),
		.slow = (unsigned)sim_below(60),
		.cut_watch = (unsigned)sim_below(60),
		.end_watch = (unsigned)sim_below(60),
		.silent_watch = (unsigned)sim_below(20),
		.garbage = (unsigned)sim_below(20),
		.compaction = (unsigned)sim_below(40)};
}

void
world_open(struct world *world, const struct world_files *files, const struct sim_options *options)
{
	struct api_options api_options = {.history = 20 + sim_below(2000),
		.bookmark_ns = (1 + (int64_t)sim_below(60)) * NSEC_PER_SEC};
	bool early = sim_chance(200);

	*world = (struct world){
		.files = files, .loop = loop_new(false), .api = api_new(&api_options)};
	sim_http_server(world->loop, world->api, options);
	finalized_open(world);
	draw_faults();
	if (early) { /* before the CRDs are there */
		for (unsigned i = 0; i < WORLD_CONTROLLERS; i++)
			world_start(world, i);
		sim_run(world->loop, (int64_t)sim_below(20) * NSEC_PER_SEC);
	}
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++)
		sim_call("people", "POST", CRDS, "application/json", files->crds[i], NULL);
	for (unsigned n = (unsigned)sim_below(WORLD_NAMES); n > 0; n--)
		world_act(world);
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++)
		world_start(world, i);
}

cJSON *
world_get(const char *path)
{
	struct buf body = BUF_INIT;
	cJSON *answer = NULL;

	if (sim_call("people", "GET", path, NULL, NULL, &body) == 200)
		answer = json_parse(body.data, body.length, NULL);
	buf_free(&body);
	return answer;
}

void
world_calm(struct world *world)
{
	sim_faults = (struct sim_faults){0};
	finalized_calm(world);
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++)
		world_start(world, i);
	sim_say("calm");
}

void
world_close(struct world *world)
{
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++)
		world_kill(world, i);
	sim_http_server(world->loop, NULL, NULL);
	api_free(world->api);
	loop_free(world->loop);
}
