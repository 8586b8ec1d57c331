/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of built-in kinds, and the schemas it names.
 *
 * A schema holds only what the server acts on: defaults, required fields, and how lists and maps merge. Every object
 * is open (unknown fields are kept), so a kind works before anyone described it; the real server knows every field and
 * drops or refuses others. Add a kind by adding a row.
 */
#include "config.h"

#include "devserver/crd.h"
#include "devserver/defaults.h"
#include "devserver/kinds.h"

#define OPEN "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true"
#define KEYED(key)                                                                              \
	"\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":" \
	"[" key "]"
#define SET \
	"{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}"
#define ATOMIC     "{" OPEN ",\"x-kubernetes-map-type\":\"atomic\"}"
#define STRINGS    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"
#define REF(name)  "{\"$ref\":\"" name "\"}"
#define STRING     "{\"type\":\"string\"}"
#define INTEGER    "{\"type\":\"integer\"}"
#define CONDITIONS "\"conditions\":{" KEYED("\"type\"") ",\"items\":{" OPEN "}}"
#define META       "\"apiVersion\":" STRING ",\"kind\":" STRING ",\"metadata\":" REF("meta")
#define STATUS     "\"status\":{" OPEN ",\"properties\":{" CONDITIONS "}}"
#define WORKLOAD(required, properties)                                               \
	"{" OPEN ",\"required\":[\"spec\"],\"properties\":{" META ",\"spec\":{" OPEN \
	",\"required\":[" required "],\"properties\":{\"selector\":" ATOMIC          \
	",\"template\":" REF("template") properties "}}," STATUS "}}"
#define LABEL_SELECTED "\"selector\",\"template\""

const char
	*const builtin_definitions =
		"{\"object\":{" OPEN ",\"properties\":{" META "," STATUS "}},"
		"\"meta\":{" OPEN ",\"properties\":{\"name\":" STRING ",\"namespace\":" STRING
		",\"generateName\":" STRING ",\"labels\":" STRINGS ",\"annotations\":" STRINGS
		",\"finalizers\":" SET ",\"ownerReferences\":{" KEYED(
			"\"uid\"") ",\"items\":{" OPEN ",\"x-kubernetes-map-type\":\"atomic\","
				   "\"required\":[\"apiVersion\",\"kind\","
				   "\"name\",\"uid\"]}}}},"
				   "\"template\":{" OPEN ",\"properties\":{\"metadata\":" REF(
					   "met"
					   "a") ",\"spec\":" REF("podSpec") "}},"
									    "\"podSpec\":{" OPEN
									    ",\"required\":["
									    "\"containers\"],"
									    "\"properties\":{"
									    "\"containers\":"
									    "{" KEYED(
										    "\"name\"") ","
												"\""
												"it"
												"em"
												"s"
												"\""
												":" REF("container") "},"
														     "\"initContainers\":{" KEYED("\"name\"") ",\"items\":" REF(
															     "container") "},"
																	  "\"volumes\":{" KEYED("\"name\"") ",\"items\":{" OPEN
																					    ",\"properties\":{\"name\":" STRING
																					    "}}},"
																					    "\"imagePullSecrets\":{" KEYED("\"name\"") ",\"items\":{" OPEN
																										       "}},"
																										       "\"hostAliases\":{" KEYED("\"ip\"") ",\"items\":{" OPEN
																															   "}},"
																															   "\"nodeSelector\":" ATOMIC ","
																															   "\"restartPolicy\":{\"type\":\"string\",\"enum\":[\"Always\",\"OnFailure\",\"Never\"],\"default\":\"Always\"},"
																															   "\"terminationGracePeriodSeconds\":{\"type\":\"integer\",\"default\":30},"
																															   "\"dnsPolicy\":{\"type\":\"string\",\"default\":\"ClusterFirst\"},"
																															   "\"securityContext\":{" OPEN
																															   ",\"default\":{}},"
																															   "\"schedulerName\":{\"type\":\"string\",\"default\":\"default-scheduler\"}}},"
																															   "\"container\":{" OPEN
																															   ",\"required\":[\"name\"],\"properties\":{\"name\":" STRING
																															   ",\"image\":" STRING
																															   ","
																															   "\"ports\":{" KEYED(
																																   "\"containerPort\",\"protocol\"") ",\"items\":{" OPEN ",\"required\":[\"containerPort\"],"
																																				     "\"properties\":{\"containerPort\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":65535},"
																																				     "\"protocol\":{\"type\":\"string\",\"default\":\"TCP\"}}}},"
																																				     "\"env\":{" KEYED(
																																					     "\"name\"") ",\"items\":{" OPEN
																																							 ",\"required\":[\"name\"],\"properties\":{\"name\":" STRING
																																							 ",\"value\":" STRING
																																							 ","
																																							 "\"valueFrom\":{" OPEN ",\"properties\":{\"fieldRef\":{" OPEN ",\"x-kubernetes-map-type\":\"atomic\","
																																							 "\"properties\":{\"apiVersion\":{\"type\":\"string\",\"default\":\"v1\"}}},"
																																							 "\"configMapKeyRef\":" ATOMIC
																																							 ",\"secretKeyRef\":" ATOMIC
																																							 ",\"resourceFieldRef\":" ATOMIC
																																							 "}}}}},"
																																							 "\"volumeMounts\":{" KEYED("\"mountPath\"") ",\"items\":{" OPEN
																																												     ",\"properties\":{\"mountPath\":" STRING
																																												     "}}},"
																																												     "\"volumeDevices\":{" KEYED("\"devicePath\"") ",\"items\":{" OPEN
																																																		   "}},"
																																																		   "\"resources\":{" OPEN
																																																		   ",\"default\":{},\"properties\":{\"claims\":{" KEYED(
																																																			   "\"name\"") ",\"items\":{" OPEN
																																																				       "}}}},"
																																																				       "\"terminationMessagePath\":{\"type\":\"string\",\"default\":\"/dev/termination-log\"},"
																																																				       "\"terminationMessagePolicy\":{\"type\":\"string\",\"default\":\"File\"}}},"
																																																				       "\"pod\":{" OPEN ",\"required\":[\"spec\"],\"properties\":{" META ",\"spec\":" REF("podSpec") "," STATUS
																																																																     "}},"
																																																																     "\"deployment\":" WORKLOAD(LABEL_SELECTED, ",\"replicas\":{\"type\":\"integer\",\"minimum\":0,\"default\":1},"
																																																																						"\"strategy\":{" OPEN
																																																																						",\"default\":{},\"properties\":{\"type\":{\"type\":\"string\",\"enum\":[\"Recreate\",\"RollingUpdate\"],"
																																																																						"\"default\":\"RollingUpdate\"},\"rollingUpdate\":{" OPEN
																																																																						",\"properties\":{\"maxSurge\":{\"x-kubernetes-int-or-string\":true,"
																																																																						"\"default\":\"25%\"},\"maxUnavailable\":{\"x-kubernetes-int-or-string\":true,\"default\":\"25%\"}}}}},"
																																																																						"\"revisionHistoryLimit\":{\"type\":\"integer\",\"default\":10},"
																																																																						"\"progressDeadlineSeconds\":{\"type\":\"integer\",\"default\":600}") ","
																																																																														      "\"replicaset\":" WORKLOAD(
																																																																															      LABEL_SELECTED, ",\"replicas\":{\"type\":\"integer\",\"minimum\":0,\"default\":1}") ","
																																																																																										  "\"statefulset\":" WORKLOAD(
																																																																																											  LABEL_SELECTED, ",\"replicas\":{\"type\":\"integer\",\"minimum\":0,\"default\":1},"
																																																																																													  "\"podManagementPolicy\":{\"type\":\"string\",\"default\":\"OrderedReady\"},"
																																																																																													  "\"revisionHistoryLimit\":{\"type\":\"integer\",\"default\":10}") ","
																																																																																																					    "\"daemonset\":" WORKLOAD(
																																																																																																						    LABEL_SELECTED,
																																																																																																						    ",\"revisionHistoryLimit\":{\"type\":\"integer\",\"default\":10}") ","
																																																																																																														       "\"job\":" WORKLOAD(
																																																																																																															       "\"template\"", ",\"parallelism\":{\"type\":\"integer\",\"default\":1},\"completions\":{\"type\":\"integer\",\"default\":1},"
																																																																																																																	       "\"backoffLimit\":{\"type\":\"integer\",\"default\":6}") ","
																																																																																																																									"\"service\":{" OPEN ",\"properties\":{" META ",\"spec\":{" OPEN ",\"properties\":{\"selector\":" ATOMIC
																																																																																																																									","
																																																																																																																									"\"ports\":{" KEYED(
																																																																																																																										"\"port\",\"protocol\"") ",\"items\":{" OPEN
																																																																																																																													 ",\"required\":[\"port\"],\"properties\":{"
																																																																																																																													 "\"port\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":65535},\"protocol\":{\"type\":\"string\",\"default\":\"TCP\"}}}},"
																																																																																																																													 "\"type\":{\"type\":\"string\",\"enum\":[\"ClusterIP\",\"ExternalName\",\"LoadBalancer\",\"NodePort\"],\"default\":\"ClusterIP\"},"
																																																																																																																													 "\"sessionAffinity\":{\"type\":\"string\",\"default\":\"None\"},"
																																																																																																																													 "\"internalTrafficPolicy\":{\"type\":\"string\",\"default\":\"Cluster\"}}},"
																																																																																																																													 "\"status\":{" OPEN
																																																																																																																													 ",\"default\":{\"loadBalancer\":{}},\"properties\":{" CONDITIONS
																																																																																																																													 "}}}},"
																																																																																																																													 "\"configmap\":{" OPEN ",\"properties\":{" META
																																																																																																																													 ",\"data\":" STRINGS
																																																																																																																													 ",\"binaryData\":" STRINGS
																																																																																																																													 "}},"
																																																																																																																													 "\"secret\":{" OPEN
																																																																																																																													 ",\"properties\":{" META
																																																																																																																													 ",\"data\":" STRINGS
																																																																																																																													 ",\"type\":{\"type\":\"string\",\"default\":\"Opaque\"}}},"
																																																																																																																													 "\"event\":{" OPEN
																																																																																																																													 ",\"properties\":{" META
																																																																																																																													 "}},"
																																																																																																																													 "\"serviceaccount\":{" OPEN
																																																																																																																													 ",\"properties\":{" META
																																																																																																																													 ",\"secrets\":{" KEYED(
																																																																																																																														 "\"name\"") ",\"items\":{" OPEN
																																																																																																																															     "}},"
																																																																																																																															     "\"imagePullSecrets\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"atomic\"}}},"
																																																																																																																															     "\"namespace\":{" OPEN
																																																																																																																															     ",\"properties\":{" META ",\"spec\":{" OPEN
																																																																																																																															     "}," STATUS
																																																																																																																															     "}},"
																																																																																																																															     "\"crd\":{" OPEN
																																																																																																																															     ",\"required\":[\"spec\"],\"properties\":{" META ",\"spec\":{" OPEN
																																																																																																																															     ",\"required\":[\"group\",\"names\",\"scope\",\"versions\"],\"properties\":{\"group\":" STRING
																																																																																																																															     ","
																																																																																																																															     "\"scope\":{\"type\":\"string\",\"enum\":[\"Cluster\",\"Namespaced\"]},"
																																																																																																																															     "\"names\":{" OPEN
																																																																																																																															     ",\"required\":[\"kind\",\"plural\"]},\"conversion\":{" OPEN
																																																																																																																															     ",\"default\":{\"strategy\":\"None\"}},"
																																																																																																																															     "\"versions\":{\"type\":\"array\",\"items\":{" OPEN
																																																																																																																															     ",\"required\":[\"name\",\"served\",\"storage\"]}}}}," STATUS
																																																																																																																															     "}},"
																																																																																																																															     "\"lease\":{" OPEN
																																																																																																																															     ",\"properties\":{" META
																																																																																																																															     "}}}";

#define N      KIND_NAMESPACED
#define S      KIND_STATUS
#define G      KIND_GENERATION
#define C      KIND_CREATE_ON_UPDATE
#define WORK   (N | S | G | KIND_ALL)
#define RBAC   "rbac.authorization.k8s.io"
#define ANSWER KIND_ANSWER

static const char event_fields[] =
	"involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,"
	"involvedObject.apiVersion,involvedObject.resourceVersion,reason,reportingComponent,source,"
	"type";
static const char new_event_fields[] =
	"regarding.kind,regarding.namespace,regarding.name,regarding.uid,reason,type";

const struct builtin builtin_kinds[] = {
	{"", "v1", "namespaces", "Namespace", "ns", S, "namespace", "Status|string|.status.phase",
		"status.phase", default_namespace, NULL},
	{"", "v1", "configmaps", "ConfigMap", "cm", N, "configmap", "Data|string|#.data", NULL,
		NULL, NULL},
	{"", "v1", "secrets", "Secret", NULL, N, "secret", "Type|string|.type;Data|integer|#.data",
		"type", default_secret, NULL},
	{"", "v1", "services", "Service", "svc", N | S | KIND_ALL, "service",
		"Type|string|.spec.type;Cluster-IP|string|.spec.clusterIP",
		"spec.clusterIP,spec.type", default_service, NULL},
	{"", "v1", "serviceaccounts", "ServiceAccount", "sa", N, "serviceaccount", NULL, NULL, NULL,
		NULL},
	{"", "v1", "pods", "Pod", "po", WORK, "pod", "Status|string|.status.phase",
		"spec.nodeName,spec.restartPolicy,spec.serviceAccountName,status.phase,status."
		"podIP",
		default_pod, NULL},
	{"", "v1", "events", "Event", "ev", N | C, "event",
		"Last Seen|date|.lastTimestamp;Type|string|.type;Reason|string|.reason;"
		"Object|string|{.involvedObject.kind}/"
		"{.involvedObject.name};Message|string|.message",
		event_fields, NULL, NULL},
	{"", "v1", "endpoints", "Endpoints", "ep", N, NULL, NULL, NULL, NULL, NULL},
	{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", N | S, NULL,
		"Status|string|.status.phase", NULL, NULL, NULL},
	{"", "v1", "persistentvolumes", "PersistentVolume", "pv", S, NULL,
		"Status|string|.status.phase", NULL, NULL, NULL},
	{"", "v1", "nodes", "Node", "no", S, NULL, NULL, "spec.unschedulable", NULL, NULL},
	{"", "v1", "replicationcontrollers", "ReplicationController", "rc", WORK, NULL, NULL, NULL,
		NULL, NULL},
	{"", "v1", "resourcequotas", "ResourceQuota", "quota", N | S, NULL, NULL, NULL, NULL, NULL},
	{"", "v1", "limitranges", "LimitRange", "limits", N, NULL, NULL, NULL, NULL, NULL},
	{"events.k8s.io", "v1", "events", "Event", "ev", N | C | KIND_NEW_EVENT, "event",
		"Last Seen|date|.deprecatedLastTimestamp;Type|string|.type;Reason|string|.reason;"
		"Object|string|{.regarding.kind}/{.regarding.name};Message|string|.note",
		new_event_fields, NULL, check_event},
	{"apps", "v1", "deployments", "Deployment", "deploy", WORK | KIND_SCALE, "deployment",
		"Ready|string|{.status.readyReplicas:0}/"
		"{.spec.replicas:0};Up-to-date|integer|{.status.updatedReplicas:0};"
		"Available|integer|{.status.availableReplicas:0}",
		NULL, default_deployment, check_workload},
	{"apps", "v1", "replicasets", "ReplicaSet", "rs", WORK | KIND_SCALE, "replicaset",
		"Desired|integer|.spec.replicas;Current|integer|{.status.replicas:0};Ready|integer|"
		"{.status.readyReplicas:0}",
		NULL, default_workload, check_workload},
	{"apps", "v1", "statefulsets", "StatefulSet", "sts", WORK | KIND_SCALE, "statefulset",
		"Ready|string|{.status.readyReplicas:0}/{.spec.replicas:0}", NULL, default_workload,
		check_workload},
	{"apps", "v1", "daemonsets", "DaemonSet", "ds", WORK, "daemonset",
		"Desired|integer|{.status.desiredNumberScheduled:0};Ready|integer|{.status."
		"numberReady:0}",
		NULL, default_workload, check_workload},
	{"apps", "v1", "controllerrevisions", "ControllerRevision", NULL, N, NULL, NULL, NULL, NULL,
		NULL},
	{"batch", "v1", "jobs", "Job", NULL, WORK, "job",
		"Completions|string|{.status.succeeded:0}/{.spec.completions:1}", NULL, NULL, NULL},
	{"batch", "v1", "cronjobs", "CronJob", "cj", WORK, NULL, "Schedule|string|.spec.schedule",
		NULL, NULL, NULL},
	{"coordination.k8s.io", "v1", "leases", "Lease", NULL, N | C, "lease",
		"Holder|string|.spec.holderIdentity", NULL, NULL, NULL},
	{"networking.k8s.io", "v1", "ingresses", "Ingress", "ing", N | S | G, NULL,
		"Class|string|.spec.ingressClassName", NULL, NULL, NULL},
	{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "netpol", N | G, NULL, NULL,
		NULL, NULL, NULL},
	{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", N | S | G, NULL,
		NULL, NULL, NULL, NULL},
	{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "hpa", N | S,
		NULL, NULL, NULL, NULL, NULL},
	{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", NULL, N | G, NULL, NULL, NULL,
		NULL, NULL},
	{RBAC, "v1", "roles", "Role", NULL, N | C | KIND_FREE_NAME, NULL, NULL, NULL, NULL, NULL},
	{RBAC, "v1", "rolebindings", "RoleBinding", NULL, N | C | KIND_FREE_NAME, NULL, NULL, NULL,
		NULL, NULL},
	{RBAC, "v1", "clusterroles", "ClusterRole", NULL, C | KIND_FREE_NAME, NULL, NULL, NULL,
		NULL, NULL},
	{RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", NULL, C | KIND_FREE_NAME, NULL,
		NULL, NULL, NULL, NULL},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
		"crd,crds", S | G, "crd", "Created At|string|.metadata.creationTimestamp", NULL,
		default_crd, check_crd},
	{"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", NULL,
		ANSWER, NULL, NULL, NULL, answer_access_review, NULL},
	{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", NULL, ANSWER,
		NULL, NULL, NULL, answer_self_review, NULL},
};

const size_t builtin_count = sizeof(builtin_kinds) / sizeof(builtin_kinds[0]);
