/* SPDX-License-Identifier: Apache-2.0 */
/* workers/readiness: each kind, ready and not, and the words for what is missing. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "common/json.h"
#include "workers/readiness.h"

#define STATUS(text) "{\"status\":{" text "}}"
#define GENERATION(text) "{\"metadata\":{\"generation\":2},\"spec\":{\"replicas\":3},\"status\":{" text "}}"
#define CONDITIONS(text) STATUS("\"conditions\":[" text "]")

static const struct {
	const char *group, *kind, *body, *lacks; /* NULL: it is ready */
} cases[] = {
	{"", "ConfigMap", "{}", NULL},
	{"", "ConfigMap", "{\"metadata\":{\"deletionTimestamp\":\"x\"}}", "it is being deleted"},

	{"apps", "Deployment", "{}", "its controller has not seen the last change"},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":1,\"replicas\":3,\"updatedReplicas\":3,\"availableReplicas\":3"), "its controller has not seen the last change"},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":2,\"replicas\":3,\"updatedReplicas\":1,\"availableReplicas\":3"), "1 of 3 replicas are updated"},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":2,\"replicas\":4,\"updatedReplicas\":3,\"availableReplicas\":3"), "1 old replicas are still there"},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":2,\"replicas\":3,\"updatedReplicas\":3,\"availableReplicas\":2"), "2 of 3 replicas are available"},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":2,\"replicas\":3,\"updatedReplicas\":3,\"availableReplicas\":3"), NULL},
	{"apps", "Deployment", "{\"metadata\":{\"generation\":1},\"spec\":{\"replicas\":0},\"status\":{\"observedGeneration\":1}}", NULL},
	{"apps", "Deployment", GENERATION("\"observedGeneration\":2,\"conditions\":[{\"type\":\"Progressing\",\"status\":\"False\",\"reason\":\"ProgressDeadlineExceeded\",\"message\":\"no\"}]"), "Progressing is False: ProgressDeadlineExceeded: no"},
	/* Another group's kind of that name has no such rule. */
	{"example.com", "Deployment", "{}", NULL},

	{"apps", "ReplicaSet", GENERATION("\"observedGeneration\":2,\"replicas\":3"), "0 of 3 replicas are available"},
	{"apps", "ReplicaSet", GENERATION("\"observedGeneration\":2,\"replicas\":3,\"availableReplicas\":3"), NULL},

	{"apps", "StatefulSet", GENERATION("\"observedGeneration\":2,\"readyReplicas\":2"), "2 of 3 replicas are ready"},
	{"apps", "StatefulSet", GENERATION("\"observedGeneration\":2,\"readyReplicas\":3,\"updatedReplicas\":1,\"currentRevision\":\"a\",\"updateRevision\":\"b\""), "1 of 3 replicas are updated"},
	{"apps", "StatefulSet", GENERATION("\"observedGeneration\":2,\"readyReplicas\":3,\"currentRevision\":\"b\",\"updateRevision\":\"b\""), NULL},
	{"apps", "StatefulSet", "{\"metadata\":{\"generation\":1},\"spec\":{\"replicas\":3,\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":1}}},\"status\":{\"observedGeneration\":1,\"readyReplicas\":3,\"updatedReplicas\":1,\"currentRevision\":\"a\",\"updateRevision\":\"b\"}}", "1 of 2 replicas are updated"},
	{"apps", "StatefulSet", "{\"metadata\":{\"generation\":1},\"spec\":{\"replicas\":3,\"updateStrategy\":{\"type\":\"OnDelete\"}},\"status\":{\"observedGeneration\":1,\"readyReplicas\":3,\"currentRevision\":\"a\",\"updateRevision\":\"b\"}}", NULL},

	{"apps", "DaemonSet", GENERATION("\"observedGeneration\":2,\"desiredNumberScheduled\":2,\"updatedNumberScheduled\":1,\"numberAvailable\":2"), "1 of 2 pods are updated"},
	{"apps", "DaemonSet", GENERATION("\"observedGeneration\":2,\"desiredNumberScheduled\":2,\"updatedNumberScheduled\":2"), "0 of 2 pods are available"},
	{"apps", "DaemonSet", GENERATION("\"observedGeneration\":2,\"desiredNumberScheduled\":2,\"updatedNumberScheduled\":2,\"numberAvailable\":2"), NULL},

	{"batch", "Job", STATUS("\"active\":1"), "it is not complete: 1 active, 0 succeeded, 0 failed"},
	{"batch", "Job", CONDITIONS("{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"BackoffLimitExceeded\"}"), "Failed is True: BackoffLimitExceeded"},
	{"batch", "Job", CONDITIONS("{\"type\":\"Failed\",\"status\":\"False\"},{\"type\":\"Complete\",\"status\":\"True\"}"), NULL},

	{"", "Pod", "{}", "its phase is Pending"},
	{"", "Pod", STATUS("\"phase\":\"Failed\""), "its phase is Failed"},
	{"", "Pod", STATUS("\"phase\":\"Succeeded\""), NULL},
	{"", "Pod", STATUS("\"phase\":\"Running\""), "it has no condition Ready yet"},
	{"", "Pod", STATUS("\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"), NULL},

	{"", "PersistentVolumeClaim", "{}", "its phase is Pending"},
	{"", "PersistentVolumeClaim", STATUS("\"phase\":\"Bound\""), NULL},
	{"", "Namespace", STATUS("\"phase\":\"Active\""), NULL},
	{"", "Service", "{\"spec\":{\"type\":\"ClusterIP\"}}", NULL},
	{"", "Service", "{\"spec\":{\"type\":\"LoadBalancer\"},\"status\":{\"loadBalancer\":{}}}", "its load balancer has no address yet"},
	{"", "Service", "{\"spec\":{\"type\":\"LoadBalancer\"},\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\"}]}}}", NULL},
	{"apiextensions.k8s.io", "CustomResourceDefinition", "{}", "it has no condition Established yet"},
	{"apiextensions.k8s.io", "CustomResourceDefinition", CONDITIONS("{\"type\":\"NamesAccepted\",\"status\":\"False\",\"reason\":\"ListKindConflict\"}"), "NamesAccepted is False: ListKindConflict"},
	{"apiextensions.k8s.io", "CustomResourceDefinition", CONDITIONS("{\"type\":\"Established\",\"status\":\"True\"}"), NULL},
	{"policy", "PodDisruptionBudget", GENERATION("\"observedGeneration\":2,\"currentHealthy\":1,\"desiredHealthy\":2"), "1 of 2 pods are healthy"},
	{"policy", "PodDisruptionBudget", GENERATION("\"observedGeneration\":2,\"currentHealthy\":2,\"desiredHealthy\":2"), NULL},
	{"autoscaling", "HorizontalPodAutoscaler", "{}", NULL},
	{"autoscaling", "HorizontalPodAutoscaler", CONDITIONS("{\"type\":\"AbleToScale\",\"status\":\"False\",\"reason\":\"FailedGetScale\"}"), "AbleToScale is False: FailedGetScale"},

	{"example.com", "Thing", CONDITIONS("{\"type\":\"Ready\",\"status\":\"False\",\"message\":\"later\"}"), "Ready is False: later"},
	{"example.com", "Thing", CONDITIONS("{\"type\":\"Ready\",\"status\":\"True\"}"), NULL},
	{"example.com", "Thing", GENERATION("\"observedGeneration\":1,\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"), "its controller has not seen the last change"},
	{"example.com", "Thing", CONDITIONS("{\"type\":\"Reconciling\",\"status\":\"True\"}"), "Reconciling is True"},
	{"example.com", "Thing", CONDITIONS("{\"type\":\"Stalled\",\"status\":\"True\",\"reason\":\"Stuck\"}"), "Stalled is True: Stuck"},
	/* What a status should not hold is no crash. */
	{"apps", "Deployment", "{\"metadata\":1,\"spec\":[],\"status\":\"x\"}", "its controller has not seen the last change"},
	{"batch", "Job", STATUS("\"conditions\":{\"a\":1}"), "it is not complete: 0 active, 0 succeeded, 0 failed"},
};

START_TEST(readiness)
{
	cJSON *body = json_parse(cases[_i].body, strlen(cases[_i].body), NULL);
	char text[128] = "";

	ck_assert_ptr_nonnull(body);
	ck_assert_msg(readiness_of(cases[_i].group, cases[_i].kind, body, text, sizeof(text)) ==
			      (cases[_i].lacks == NULL),
		"%s: %s", cases[_i].body, text);
	ck_assert_str_eq(text, cases[_i].lacks == NULL ? "" : cases[_i].lacks);
	cJSON_Delete(body);
}
END_TEST

START_TEST(long_messages_are_cut)
{
	char text[16];
	cJSON *body = json_parse(cases[9].body, strlen(cases[9].body), NULL);

	ck_assert(!readiness_of("apps", "Deployment", body, text, sizeof(text)));
	ck_assert_str_eq(text, "Progressing is ");
	cJSON_Delete(body);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("readiness");
	TCase *tc = tcase_create("readiness");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, readiness, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, long_messages_are_cut);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
