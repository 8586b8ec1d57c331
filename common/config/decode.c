/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the checker's document to the structs that supervisor and workers use. The document comes through a pipe from a process that
 * read foreign files: every key is looked at again, and a document that does not fit is an error, never a crash.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/duration.h"
#include "common/config/field_path.h"
#include "common/config/quantity.h"
#include "common/config/syntax.h"
#include "common/json.h"
#include "common/memory.h"

/* Collects the first error, so that a struct is filled without a test after each line. */
struct decoder {
	const cJSON *object;
	struct error *err;
	int r;
};

static void
fail(struct decoder *d, const char *key)
{
	if (d->r == 0)
		d->r = error_set(
			d->err, -EBADMSG, "the configuration document has no usable \"%s\"", key);
}

static const cJSON *
find(const struct decoder *d, const char *section, const char *key)
{
	const cJSON *object = d->object;

	if (section)
		object = cJSON_GetObjectItemCaseSensitive(object, section);
	return object ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

static const char *
text(struct decoder *d, const char *section, const char *key)
{
	const cJSON *value = find(d, section, key);

	if (cJSON_IsString(value))
		return value->valuestring;
	fail(d, key);
	return "";
}

static char *
optional_text(struct decoder *d, const char *section, const char *key)
{
	return find(d, section, key) ? xstrdup(text(d, section, key)) : NULL;
}

static bool
boolean(struct decoder *d, const char *key)
{
	const cJSON *value = find(d, NULL, key);

	if (!cJSON_IsBool(value))
		fail(d, key);
	return cJSON_IsTrue(value);
}

static double
number(struct decoder *d, const char *section, const char *key)
{
	const cJSON *value = find(d, section, key);

	if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= 1e9)
		return value->valuedouble;
	fail(d, key);
	return 0;
}

static int64_t
duration(struct decoder *d, const char *section, const char *key)
{
	int64_t ns = 0;

	if (duration_parse(text(d, section, key), &ns) < 0)
		fail(d, key);
	return ns;
}

static const cJSON *
map(struct decoder *d, const char *key)
{
	const cJSON *value = find(d, NULL, key);

	if (value && !cJSON_IsObject(value))
		fail(d, key);
	return value;
}

/* --- the supervisor --- */

static int
log_word(struct decoder *d, const char *key, int (*parse)(const char *word))
{
	int value = parse(text(d, "log", key));

	if (value < 0)
		fail(d, key);
	return value < 0 ? 0 : value;
}

int
config_decode_supervisor(const cJSON *document, struct config_supervisor *ret, struct error *err)
{
	struct decoder d = {.err = err};
	struct config_supervisor config = {0};

	d.object = cJSON_GetObjectItemCaseSensitive(document, "supervisor");
	if (!cJSON_IsObject(d.object))
		return error_set(
			err, -EBADMSG, "the configuration document has no usable \"supervisor\"");
	config.instance = xstrdup(text(&d, NULL, "instance"));
	config.http_listen = xstrdup(text(&d, "http", "listen"));
	config.log_level = (enum log_level)log_word(&d, "level", log_level_parse);
	config.log_format = (enum log_format)log_word(&d, "format", log_format_parse);
	config.strict_start = boolean(&d, "strictStart");
	config.reload_auto = strcmp(text(&d, NULL, "reload"), "auto") == 0;
	config.heartbeat_ns = duration(&d, NULL, "heartbeat");
	config.stop_grace_ns = duration(&d, NULL, "stopGrace");
	config.kill_grace_ns = duration(&d, NULL, "killGrace");
	if (d.r < 0)
		config_supervisor_clear(&config);
	else
		*ret = config;
	return d.r;
}

void
config_supervisor_clear(struct config_supervisor *config)
{
	free(config->instance);
	free(config->http_listen);
	*config = (struct config_supervisor){0};
}

/* --- a controller --- */

static void
decode_namespaces(struct decoder *d, struct config_controller *controller)
{
	const cJSON *list = find(d, NULL, "namespaces"), *item;

	if (cJSON_IsString(list) && !strcmp(list->valuestring, "all"))
		return;
	if (!cJSON_IsArray(list) || !list->child) {
		fail(d, "namespaces");
		return;
	}
	controller->namespaces =
		xcalloc((size_t)cJSON_GetArraySize(list), sizeof *controller->namespaces);
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item)) {
			fail(d, "namespaces");
			return;
		}
		controller->namespaces[controller->n_namespaces++] = xstrdup(item->valuestring);
	}
}

/* [{"name": "${...}"}, ...] */
static const cJSON *
decode_let(struct decoder *d, size_t *ret_n)
{
	const cJSON *list = find(d, NULL, "let"), *item;

	if (list && (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > CONFIG_LETS_MAX)) {
		fail(d, "let");
		return NULL;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsObject(item) || !cJSON_IsString(item->child) ||
			!syntax_is_identifier(item->child->string)) {
			fail(d, "let");
			return NULL;
		}
		(*ret_n)++;
	}
	return list;
}

/* Both have a default that depends on the kind. */
static void
decode_ties(struct decoder *d, struct config_child *child)
{
	bool has_owner = find(d, NULL, "owner") != NULL;
	const char *owner = has_owner ? text(d, NULL, "owner") : "";
	const char *deletion = find(d, NULL, "deletion") != NULL ? text(d, NULL, "deletion") : NULL;

	child->retain = deletion != NULL ? strcmp(deletion, "retain") == 0
					 : config_kind_retained_of(child->api_version, child->kind);
	if (!strcmp(owner, "finalizer"))
		child->owner = CONFIG_OWNER_FINALIZER;
	else if (!strcmp(owner, "none") || child->retain)
		child->owner = CONFIG_OWNER_NONE;
}

static struct field_path *
decode_paths(struct decoder *d, const char *key, size_t *ret_n)
{
	const cJSON *list = find(d, NULL, key), *item;
	struct field_path *paths;

	if (!list)
		return NULL;
	paths = xcalloc(CONFIG_PATHS_MAX, sizeof *paths);
	cJSON_ArrayForEach(item, list)
	{
		if (*ret_n == CONFIG_PATHS_MAX || !cJSON_IsString(item) ||
			!field_path_parse(item->valuestring, &paths[*ret_n])) {
			fail(d, key);
			break;
		}
		(*ret_n)++;
	}
	return paths;
}

static void
decode_child(struct decoder *outer, const cJSON *object, struct config_child *child)
{
	struct decoder d = {.object = object, .err = outer->err, .r = outer->r};
	const char *conflict = text(&d, NULL, "conflict");

	child->id = xstrdup(text(&d, NULL, "id"));
	child->api_version = xstrdup(text(&d, "template", "apiVersion"));
	child->kind = xstrdup(text(&d, "template", "kind"));
	child->template_ = map(&d, "template");
	child->when = find(&d, NULL, "when");
	if (child->when && !cJSON_IsString(child->when) && !cJSON_IsBool(child->when))
		fail(&d, "when");
	child->ready_when = find(&d, NULL, "readyWhen");
	if (child->ready_when && !cJSON_IsString(child->ready_when) &&
		!cJSON_IsBool(child->ready_when))
		fail(&d, "readyWhen");
	child->depends_on = find(&d, NULL, "dependsOn");
	child->let = decode_let(&d, &child->n_lets);
	child->for_each = map(&d, "forEach");
	if (child->for_each && (!cJSON_IsString(child->for_each->child) ||
				       !syntax_is_identifier(child->for_each->child->string)))
		fail(&d, "forEach");
	child->literal = boolean(&d, "literal");
	child->create_only = decode_paths(&d, "createOnly", &child->n_create_only);
	child->ignore = decode_paths(&d, "ignoreFields", &child->n_ignore);
	child->adopt = boolean(&d, "adopt");
	child->recreate = strcmp(text(&d, NULL, "update"), "recreate") == 0;
	decode_ties(&d, child);
	child->conflict = !strcmp(conflict, "fail") ? CONFIG_CONFLICT_FAIL : CONFIG_CONFLICT_FORCE;
	outer->r = d.r;
}

static void
decode_children(struct decoder *d, struct config_controller *controller)
{
	const cJSON *list = find(d, NULL, "children"), *item;
	int n = cJSON_GetArraySize(list);

	if (!cJSON_IsArray(list) || n > CONFIG_CHILDREN_MAX) {
		fail(d, "children");
		return;
	}
	if (n)
		controller->children = xcalloc((size_t)n, sizeof *controller->children);
	cJSON_ArrayForEach(item, list)
		decode_child(d, item, &controller->children[controller->n_children++]);
}

static void
decode_limits(struct decoder *d, struct config_controller *controller)
{
	if (find(d, "limits", "memory") &&
		quantity_parse(text(d, "limits", "memory"), &controller->memory_limit) < 0)
		fail(d, "memory");
	if (find(d, "limits", "files"))
		controller->file_limit = (int64_t)number(d, "limits", "files");
}

static void
decode_removal(struct decoder *d, struct config_controller *controller)
{
	const char *word = text(d, NULL, "onRemove");

	controller->on_remove = !strcmp(word, "keep")     ? CONFIG_REMOVE_KEEP
				: !strcmp(word, "delete") ? CONFIG_REMOVE_DELETE
							  : CONFIG_REMOVE_RELEASE;
	controller->remove_timeout_ns = duration(d, NULL, "removeTimeout");
}

static void
decode_tuning(struct decoder *d, struct config_controller *controller)
{
	controller->required = boolean(d, "required");
	controller->paused = boolean(d, "paused");
	controller->concurrency = (unsigned)number(d, NULL, "concurrency");
	controller->prune_max = (unsigned)number(d, "prune", "max");
	decode_removal(d, controller);
	controller->stuck_after_ns = duration(d, NULL, "stuckAfter");
	controller->watch_silence_ns = duration(d, NULL, "watchSilence");
	controller->request_timeout_ns = duration(d, NULL, "requestTimeout");
	controller->resync_ns = duration(d, NULL, "resync");
	controller->retry_min_ns = duration(d, "retry", "min");
	controller->retry_max_ns = duration(d, "retry", "max");
	controller->render_timeout_ns = duration(d, NULL, "renderTimeout");
	controller->writes_per_second = number(d, "writes", "perSecond");
	controller->writes_burst = (unsigned)number(d, "writes", "burst");
	decode_limits(d, controller);
}

/* A kubeconfig of its own has contexts of its own. */
static void
decode_identity(struct decoder *d, struct config_controller *controller)
{
	bool own = map(d, "credentials") && find(d, "credentials", "kubeconfig");

	controller->kubeconfig = optional_text(d, own ? "credentials" : "cluster", "kubeconfig");
	controller->context = optional_text(d, "credentials", "context");
	if (!controller->context && !own)
		controller->context = optional_text(d, "cluster", "context");
	controller->token_file = optional_text(d, "credentials", "tokenFile");
	controller->certificate_file = optional_text(d, "credentials", "clientCertificate");
	controller->key_file = optional_text(d, "credentials", "clientKey");
	controller->impersonate = map(d, "impersonate");
	if (!controller->certificate_file != !controller->key_file)
		fail(d, "credentials");
}

static void
decode_all(struct decoder *d, struct config_controller *controller)
{
	controller->name = xstrdup(text(d, NULL, "name"));
	if (kube_resource_parse(text(d, NULL, "resource"), &controller->resource) < 0)
		fail(d, "resource");
	decode_namespaces(d, controller);
	controller->selector = optional_text(d, NULL, "selector");
	controller->field_selector = optional_text(d, NULL, "fieldSelector");
	decode_children(d, controller);
	controller->let = decode_let(d, &controller->n_lets);
	controller->status = map(d, "status");
	controller->status_on_error = map(d, "statusOnError");
	decode_tuning(d, controller);
	controller->instance = xstrdup(text(d, NULL, "instance"));
	decode_identity(d, controller);
	controller->vars = map(d, "vars");
	controller->heartbeat_ns = duration(d, NULL, "heartbeat");
}

struct config_controller *
config_decode_controller(const char *bytes, size_t length, struct error *err)
{
	struct config_controller *controller = xcalloc(1, sizeof *controller);
	struct decoder d = {.err = err};

	controller->document = json_parse(bytes, length, err);
	if (!controller->document)
		goto fail;
	d.object = controller->document;
	decode_all(&d, controller);
	if (d.r == 0 && config_decode_depends(controller) < 0)
		fail(&d, "dependsOn");
	if (d.r == 0)
		return controller;
fail:
	config_controller_free(controller);
	return NULL;
}

void
config_controller_free(struct config_controller *controller)
{
	if (!controller)
		return;
	for (size_t i = 0; i < controller->n_namespaces; i++)
		free(controller->namespaces[i]);
	for (size_t i = 0; i < controller->n_children; i++) {
		free(controller->children[i].id);
		free(controller->children[i].api_version);
		free(controller->children[i].kind);
		free(controller->children[i].depends);
		free(controller->children[i].create_only);
		free(controller->children[i].ignore);
	}
	free(controller->namespaces);
	free(controller->children);
	free(controller->order);
	free(controller->name);
	free(controller->selector);
	free(controller->field_selector);
	free(controller->instance);
	free(controller->kubeconfig);
	free(controller->context);
	free(controller->token_file);
	free(controller->certificate_file);
	free(controller->key_file);
	cJSON_Delete(controller->document);
	free(controller);
}
