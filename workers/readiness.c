/* SPDX-License-Identifier: Apache-2.0 */
/* A table of kinds, each with its rule. What a status does not say yet counts as not reached. */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "workers/readiness.h"

struct look {
	const cJSON *body, *spec, *status;
	char *text;
	size_t n;
};

__attribute__((format(printf, 2, 3))) static bool
lacks(const struct look *look, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(look->text, look->n, format, args);
	va_end(args);
	return false;
}

static double
number(const cJSON *object, const char *key, double fallback)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(value) && isfinite(value->valuedouble) ? value->valuedouble
								      : fallback;
}

static const cJSON *
condition(const struct look *look, const char *type)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(look->status, "conditions"))
		if (strcmp(json_string(item, "type", ""), type) == 0) return item;
	return NULL;
}

static bool
is_true(const cJSON *condition)
{
	return strcmp(json_string(condition, "status", ""), "True") == 0;
}

/* "Ready is False: REASON: MESSAGE" */
static bool
lacks_condition(const struct look *look, const char *type, const cJSON *found)
{
	const char *reason = json_string(found, "reason", ""),
		   *message = json_string(found, "message", "");

	if (found == NULL)
		return lacks(look, "it has no condition %s yet", type);
	return lacks(look, "%s is %s%s%s%s%s", type, json_string(found, "status", "Unknown"),
		*reason != '\0' ? ": " : "", reason, *message != '\0' ? ": " : "", message);
}

static bool
has_condition(const struct look *look, const char *type)
{
	const cJSON *found = condition(look, type);

	return is_true(found) || lacks_condition(look, type, found);
}

/* --- workloads --- */

static bool
has_seen(const struct look *look)
{
	return number(look->status, "observedGeneration", 0) >=
		       number(cJSON_GetObjectItemCaseSensitive(look->body, "metadata"),
			       "generation", 1) ||
	       lacks(look, "its controller has not seen the last change");
}

static bool
reached(const struct look *look, double has, double wants, const char *what)
{
	return has >= wants || lacks(look, "%.0f of %.0f %s", has, wants, what);
}

static bool
deployment(const struct look *look)
{
	double wants = number(look->spec, "replicas", 1),
	       updated = number(look->status, "updatedReplicas", 0),
	       all = number(look->status, "replicas", 0);
	const cJSON *progress = condition(look, "Progressing");

	if (!has_seen(look))
		return false;
	if (strcmp(json_string(progress, "reason", ""), "ProgressDeadlineExceeded") == 0)
		return lacks_condition(look, "Progressing", progress);
	if (!reached(look, updated, wants, "replicas are updated"))
		return false;
	if (all > updated)
		return lacks(look, "%.0f old replicas are still there", all - updated);
	return reached(look, number(look->status, "availableReplicas", 0), wants,
		"replicas are available");
}

static bool
replica_set(const struct look *look)
{
	double wants = number(look->spec, "replicas", 1);

	return has_seen(look) && reached(look, number(look->status, "replicas", 0), wants,
					 "replicas are there") &&
	       reached(look, number(look->status, "availableReplicas", 0), wants,
		       "replicas are available");
}

static bool
stateful_set(const struct look *look)
{
	double wants = number(look->spec, "replicas", 1);
	const cJSON *strategy = cJSON_GetObjectItemCaseSensitive(look->spec, "updateStrategy"),
		    *rolling = cJSON_GetObjectItemCaseSensitive(strategy, "rollingUpdate");
	double partition = number(rolling, "partition", 0);
	const char *update = json_string(look->status, "updateRevision", ""),
		   *current = json_string(look->status, "currentRevision", "");

	if (!has_seen(look) || !reached(look, number(look->status, "readyReplicas", 0), wants,
				       "replicas are ready"))
		return false;
	if (strcmp(json_string(strategy, "type", ""), "OnDelete") == 0)
		return true;
	if (partition > 0)
		return reached(look, number(look->status, "updatedReplicas", 0),
			wants > partition ? wants - partition : 0, "replicas are updated");
	return strcmp(update, current) == 0 ||
	       lacks(look, "%.0f of %.0f replicas are updated",
		       number(look->status, "updatedReplicas", 0), wants);
}

static bool
daemon_set(const struct look *look)
{
	double wants = number(look->status, "desiredNumberScheduled", 0);
	const cJSON *strategy = cJSON_GetObjectItemCaseSensitive(look->spec, "updateStrategy");

	if (!has_seen(look))
		return false;
	if (strcmp(json_string(strategy, "type", ""), "OnDelete") != 0 &&
		!reached(look, number(look->status, "updatedNumberScheduled", 0), wants,
			"pods are updated"))
		return false;
	return reached(look, number(look->status, "numberAvailable", 0), wants,
		"pods are available");
}

static bool
job(const struct look *look)
{
	const cJSON *failed = condition(look, "Failed");

	if (is_true(failed))
		return lacks_condition(look, "Failed", failed);
	return is_true(condition(look, "Complete")) ||
	       lacks(look, "it is not complete: %.0f active, %.0f succeeded, %.0f failed",
		       number(look->status, "active", 0), number(look->status, "succeeded", 0),
		       number(look->status, "failed", 0));
}

static bool
pod(const struct look *look)
{
	const char *phase = json_string(look->status, "phase", "Pending");

	if (strcmp(phase, "Succeeded") == 0)
		return true;
	if (strcmp(phase, "Running") != 0)
		return lacks(look, "its phase is %s", phase);
	return has_condition(look, "Ready");
}

/* --- others --- */

static bool
claim(const struct look *look)
{
	const char *phase = json_string(look->status, "phase", "Pending");

	return strcmp(phase, "Bound") == 0 || lacks(look, "its phase is %s", phase);
}

static bool
namespace_(const struct look *look)
{
	const char *phase = json_string(look->status, "phase", "Pending");

	return strcmp(phase, "Active") == 0 || lacks(look, "its phase is %s", phase);
}

static bool
service(const struct look *look)
{
	const cJSON *balancer = cJSON_GetObjectItemCaseSensitive(look->status, "loadBalancer");

	if (strcmp(json_string(look->spec, "type", "ClusterIP"), "LoadBalancer") != 0)
		return true;
	return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(balancer, "ingress")) > 0 ||
	       lacks(look, "its load balancer has no address yet");
}

static bool
crd(const struct look *look)
{
	const cJSON *names = condition(look, "NamesAccepted");

	if (names != NULL && strcmp(json_string(names, "status", ""), "False") == 0)
		return lacks_condition(look, "NamesAccepted", names);
	return has_condition(look, "Established");
}

static bool
disruption_budget(const struct look *look)
{
	return has_seen(look) && reached(look, number(look->status, "currentHealthy", 0),
					 number(look->status, "desiredHealthy", 0),
					 "pods are healthy");
}

/* A new one has no conditions, and none of them is needed to go on: only a trouble is told. */
static bool
autoscaler(const struct look *look)
{
	const cJSON *able = condition(look, "AbleToScale");

	return able == NULL || is_true(able) || lacks_condition(look, "AbleToScale", able);
}

static bool
any(const struct look *look)
{
	const cJSON *found = condition(look, "Stalled");

	if (cJSON_HasObjectItem(look->status, "observedGeneration") && !has_seen(look))
		return false;
	if (is_true(found))
		return lacks_condition(look, "Stalled", found);
	found = condition(look, "Reconciling");
	if (is_true(found))
		return lacks_condition(look, "Reconciling", found);
	found = condition(look, "Ready");
	return found == NULL || is_true(found) || lacks_condition(look, "Ready", found);
}

bool
readiness_of(const char *group, const char *kind, const cJSON *body, char *text, size_t n)
{
	static const struct {
		const char *group, *kind;
		bool (*is_ready)(const struct look *look);
	} kinds[] = {
		{"apps", "Deployment", deployment},
		{"apps", "StatefulSet", stateful_set},
		{"apps", "DaemonSet", daemon_set},
		{"apps", "ReplicaSet", replica_set},
		{"batch", "Job", job},
		{"", "Pod", pod},
		{"", "PersistentVolumeClaim", claim},
		{"", "Namespace", namespace_},
		{"", "Service", service},
		{"apiextensions.k8s.io", "CustomResourceDefinition", crd},
		{"policy", "PodDisruptionBudget", disruption_budget},
		{"autoscaling", "HorizontalPodAutoscaler", autoscaler},
	};
	const struct look look = {body, cJSON_GetObjectItemCaseSensitive(body, "spec"),
		cJSON_GetObjectItemCaseSensitive(body, "status"), text, n};

	if (json_get(body, "metadata", "deletionTimestamp", NULL) != NULL)
		return lacks(&look, "it is being deleted");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].is_ready(&look);
	return any(&look);
}
