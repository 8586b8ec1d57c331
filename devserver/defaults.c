/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults and checks of built-in kinds that a schema can't say.
 *
 * Works on trees that the caller owns; knows nothing of requests or the store.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/base64.h"
#include "devserver/causes.h"
#include "devserver/defaults.h"
#include "devserver/tree.h"

#define EVENT_TEXT_MAX 1024

static void
default_string(cJSON *object, const char *key, const char *value)
{
	if (!tree_get(object, key))
		tree_set_string(object, key, value);
}

void
default_namespace(cJSON *object, const cJSON *old)
{
	cJSON *metadata = tree_object(object, "metadata");

	(void)old;
	tree_set_string(tree_object(metadata, "labels"), "kubernetes.io/metadata.name",
		json_string(metadata, "name", ""));
}

void
prepare_namespace(cJSON *object, const cJSON *old)
{
	cJSON *finalizers = tree_array(tree_object(object, "spec"), "finalizers");

	if (old)
		return;
	if (!finalizers->child)
		cJSON_AddItemToArray(finalizers, cJSON_CreateString("kubernetes"));
	tree_set_string(tree_object(object, "status"), "phase", "Active");
}

/* stringData is write-only: it lands in data as base64. */
void
default_secret(cJSON *object, const cJSON *old)
{
	cJSON *text = tree_take(object, "stringData");

	(void)old;
	for (const cJSON *item = text ? text->child : NULL; item; item = item->next) {
		struct buf out = BUF_INIT;

		if (cJSON_IsString(item))
			base64_encode(&out, item->valuestring, strlen(item->valuestring));
		tree_set_string(tree_object(object, "data"), item->string, out.data);
		buf_free(&out);
	}
	cJSON_Delete(text);
}

void
default_service(cJSON *object, const cJSON *old)
{
	cJSON *ports = tree_find(object, "spec", "ports", NULL);

	(void)old;
	for (cJSON *port = ports ? ports->child : NULL; port; port = port->next)
		if (!tree_get(port, "targetPort"))
			tree_set(port, "targetPort", cJSON_Duplicate(tree_get(port, "port"), true));
}

/* An address of the service network, from the uid. */
static void
service_address(const char *uid, char *out, size_t size)
{
	unsigned int hash = 5;

	for (const char *p = uid; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	snprintf(out, size, "10.0.%u.%u", hash / 254 % 256, hash % 254 + 1);
}

static void
default_words(cJSON *object, const char *key, const char *word)
{
	if (!tree_get(object, key))
		cJSON_AddItemToArray(tree_array(object, key), cJSON_CreateString(word));
}

void
prepare_service(cJSON *object, const cJSON *old)
{
	cJSON *spec = tree_object(object, "spec");
	const cJSON *before = json_get(old, "spec", "clusterIP", NULL);
	char address[32];

	if (!old)
		tree_object(tree_object(object, "status"), "loadBalancer");
	if (strcmp(json_string(spec, "type", ""), "ExternalName") == 0)
		return;
	service_address(
		json_string(tree_get(object, "metadata"), "uid", ""), address, sizeof(address));
	default_string(spec, "clusterIP", cJSON_IsString(before) ? before->valuestring : address);
	default_words(spec, "clusterIPs", json_string(spec, "clusterIP", ""));
	default_words(spec, "ipFamilies", "IPv4");
	default_string(spec, "ipFamilyPolicy", "SingleStack");
}

cJSON *
check_service(const cJSON *object, const cJSON *old)
{
	const cJSON *spec = tree_get(object, "spec");

	(void)old;
	if (!tree_empty(tree_get(spec, "ports")) ||
		strcmp(json_string(spec, "type", ""), "ExternalName") == 0 ||
		strcmp(json_string(spec, "clusterIP", ""), "None") == 0)
		return NULL;
	return causes_add(NULL, CAUSE_REQUIRED, "spec.ports", "Required value");
}

cJSON *
check_secret(const cJSON *object, const cJSON *old)
{
	const cJSON *data = tree_get(object, "data");
	cJSON *causes = NULL;

	(void)old;
	for (const cJSON *item = data ? data->child : NULL; item; item = item->next) {
		char *bytes = NULL;
		size_t length;

		/* A type error: the real server can't decode it. */
		if (base64_decode(item->valuestring, strlen(item->valuestring), &bytes, &length) < 0)
			causes = causes_add(causes, CAUSE_TYPE, item->string,
				"illegal base64 data at input byte 0");
		else
			free(bytes);
	}
	return causes;
}

/* Always for :latest or no tag, as kubelets need it. */
static void
default_pull_policy(cJSON *containers)
{
	for (cJSON *c = containers ? containers->child : NULL; c; c = c->next) {
		const char *image = json_string(c, "image", ""), *name = strrchr(image, '/');
		const char *tag = strchr(name ? name : image, ':');
		bool latest = !tag || strcmp(tag, ":latest") == 0;

		if (cJSON_IsObject(c))
			default_string(c, "imagePullPolicy",
				latest && !strchr(image, '@') ? "Always" : "IfNotPresent");
	}
}

static void
default_pod_spec(cJSON *spec)
{
	default_pull_policy(tree_get(spec, "containers"));
	default_pull_policy(tree_get(spec, "initContainers"));
}

void
default_pod(cJSON *object, const cJSON *old)
{
	(void)old;
	default_pod_spec(tree_get(object, "spec"));
}

void
prepare_pod(cJSON *object, const cJSON *old)
{
	if (!old)
		tree_set_string(tree_object(object, "status"), "phase", "Pending");
}

void
default_workload(cJSON *object, const cJSON *old)
{
	(void)old;
	default_pod_spec(tree_find(object, "spec", "template", "spec", NULL));
}

void
default_deployment(cJSON *object, const cJSON *old)
{
	cJSON *strategy = tree_find(object, "spec", "strategy", NULL);

	default_workload(object, old);
	if (strcmp(json_string(strategy, "type", ""), "RollingUpdate") == 0) {
		cJSON *rolling = tree_object(strategy, "rollingUpdate");

		default_string(rolling, "maxUnavailable", "25%");
		default_string(rolling, "maxSurge", "25%");
	}
}

void
answer_access_review(cJSON *object, const cJSON *old)
{
	(void)old;
	tree_set(tree_object(object, "status"), "allowed", cJSON_CreateTrue());
	tree_set_string(tree_object(object, "status"), "reason",
		"the development server allows everything");
}

void
answer_self_review(cJSON *object, const cJSON *old)
{
	cJSON *user = tree_object(tree_object(object, "status"), "userInfo");

	(void)old;
	tree_set_string(user, "username", "admin");
	cJSON_AddItemToArray(tree_array(user, "groups"), cJSON_CreateString("system:masters"));
}

static cJSON *
selector_mismatch(const cJSON *match, const cJSON *labels)
{
	for (const cJSON *want = match ? match->child : NULL; want; want = want->next) {
		const char *is = json_string(labels, want->string, NULL);
		struct buf shown = BUF_INIT;
		cJSON *causes;

		if (is && cJSON_IsString(want) && strcmp(is, want->valuestring) == 0)
			continue;
		if (labels)
			json_print_canonical(&shown, labels);
		else
			buf_adds(&shown, "null");
		causes = causes_add(NULL, CAUSE_INVALID, "spec.template.metadata.labels",
			"Invalid value: %s: `selector` does not match template `labels`",
			shown.data);
		buf_free(&shown);
		return causes;
	}
	return NULL;
}

static cJSON *
check_containers(cJSON *causes, const cJSON *spec, const char *field)
{
	if (tree_empty(tree_get(spec, "containers")))
		causes = causes_add(causes, CAUSE_REQUIRED, field, "Required value");
	return causes;
}

cJSON *
check_pod(const cJSON *object, const cJSON *old)
{
	(void)old;
	return check_containers(NULL, tree_get(object, "spec"), "spec.containers");
}

cJSON *
check_workload(const cJSON *object, const cJSON *old)
{
	const cJSON *selector = json_get(object, "spec", "selector", NULL),
		    *was = json_get(old, "spec", "selector", NULL);
	cJSON *causes = NULL;
	struct buf shown = BUF_INIT;

	if (selector && tree_empty(selector)) {
		causes = causes_add(NULL, CAUSE_INVALID, "spec.selector",
			"Invalid value: {}: empty selector is invalid for deployment");
	} else if (was && !tree_equal(was, selector)) {
		json_print(&shown, selector);
		causes = causes_add(NULL, CAUSE_INVALID, "spec.selector",
			"Invalid value: %s: field is immutable", shown.data);
	} else {
		causes = selector_mismatch(tree_get(selector, "matchLabels"),
			json_get(object, "spec", "template", "metadata", "labels", NULL));
	}
	buf_free(&shown);
	return check_containers(causes, json_get(object, "spec", "template", "spec", NULL),
		"spec.template.spec.containers");
}

/* What events.k8s.io/v1 asks for beyond the core spelling. */
cJSON *
check_event(const cJSON *object, const cJSON *old)
{
	static const char *const required[] = {
		"reportingController", "reportingInstance", "action", "reason", "eventTime"};
	cJSON *causes = NULL;

	(void)old;
	if (json_get(object, "series", NULL) == NULL)
		for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
			if (!*json_string(object, required[i], ""))
				causes = causes_add(
					causes, CAUSE_REQUIRED, required[i], "Required value");
	if (strcmp(json_string(object, "type", ""), "Normal") != 0 &&
		strcmp(json_string(object, "type", ""), "Warning") != 0)
		causes = causes_add(causes, CAUSE_INVALID, "type",
			"Invalid value: \"\": has invalid value: %s",
			json_string(object, "type", ""));
	if (strlen(json_string(object, "note", "")) > EVENT_TEXT_MAX)
		causes = causes_add(causes, CAUSE_INVALID, "note",
			"Invalid value: \"\": can have at most %d bytes", EVENT_TEXT_MAX);
	return causes;
}

cJSON *
check_core_event(const cJSON *object, const cJSON *old)
{
	const char *about = json_string(tree_get(object, "involvedObject"), "namespace", "");
	const char *in = json_string(tree_get(object, "metadata"), "namespace", "");

	(void)old;
	if (strcmp(about, in) == 0 || (!*about && strcmp(in, "default") == 0))
		return NULL;
	return causes_add(NULL, CAUSE_INVALID, "involvedObject.namespace",
		"Invalid value: \"%s\": does not match event.namespace", about);
}
