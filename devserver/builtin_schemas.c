/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas of built-in kinds: what the server acts on (defaults, required fields, how lists and maps merge, which fields
 * there are), not the whole of the real ones. Where no fields are listed anything goes.
 *
 * Shorthand, expanded by schema_expand(): single quotes stand for double ones; {'$ref': NAME} is a copy of NAME below;
 * 'x-open' is an object that takes every field; 'x-fields' lists the fields that there are; 'x-key' is a list that
 * merges by these keys; 'x-always' is there even when it was not sent, so that nobody owns it by creating it.
 */
#include "config.h"

#include "devserver/kinds.h"

#define META     "'apiVersion':{'$ref':'string'},'kind':{'$ref':'string'},'metadata':{'$ref':'meta'}"
#define WORKLOAD "'selector':{'$ref':'atomic'},'template':{'$ref':'template'}"
#define SELECTED "'required':['selector','template']"
#define FULL_KIND                                                                \
	"{'x-fields':'apiVersion,kind,metadata,spec,status','properties':{" META \
	",'status':{'$ref':'status'},"
#define REPLICAS "'replicas':{'type':'integer','minimum':0,'default':1}"
#define HISTORY  "'revisionHistoryLimit':{'type':'integer','default':10}"

const struct builtin_schema builtin_schemas[] = {
	{"any", "{'x-kubernetes-preserve-unknown-fields':true}"},
	{"open", "{'x-open':true}"},
	{"atomic", "{'x-open':true,'x-kubernetes-map-type':'atomic'}"},
	{"string", "{'type':'string'}"},
	{"strings", "{'type':'object','additionalProperties':{'type':'string'}}"},
	{"set", "{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}"},
	{"named", "{'x-key':'name','items':{'x-open':true}}"},
	{"status", "{'x-open':true,'x-always':true,'default':{},'properties':{"
		   "'conditions':{'x-key':'type','items':{'x-open':true}}}}"},
	{"meta", "{'x-always':true,'x-fields':'annotations,creationTimestamp,"
		 "deletionGracePeriodSeconds,"
		 "deletionTimestamp,finalizers,generateName,generation,labels,managedFields,name,"
		 "namespace,"
		 "ownerReferences,resourceVersion,selfLink,uid','properties':{'name':{'$ref':'"
		 "string'},"
		 "'namespace':{'$ref':'string'},'generateName':{'$ref':'string'},'labels':{'$ref':'"
		 "strings'},"
		 "'annotations':{'$ref':'strings'},'finalizers':{'$ref':'set'},"
		 "'ownerReferences':{'x-key':'uid','items':{'$ref':'atomic'}}}}"},
	{"object", "{'x-open':true,'properties':{" META "}}"},
	{"container",
		"{'required':['name','image'],'x-fields':'args,command,env,envFrom,image,"
		"imagePullPolicy,"
		"lifecycle,livenessProbe,name,ports,readinessProbe,resizePolicy,resources,"
		"restartPolicy,"
		"restartPolicyRules,securityContext,startupProbe,stdin,stdinOnce,"
		"terminationMessagePath,"
		"terminationMessagePolicy,tty,volumeDevices,volumeMounts,workingDir','properties':{"
		"'name':{'$ref':'string'},'image':{'$ref':'string'},'env':{'x-key':'name','items':{"
		"'x-fields':'name,value,valueFrom','required':['name'],'properties':{'name':{'$ref'"
		":'string'},"
		"'value':{'$ref':'string'},'valueFrom':{'x-open':true,'properties':{"
		"'fieldRef':{'x-open':true,'x-kubernetes-map-type':'atomic','properties':{"
		"'apiVersion':{'type':'string','default':'v1'}}},'configMapKeyRef':{'$ref':'atomic'"
		"},"
		"'secretKeyRef':{'$ref':'atomic'},'resourceFieldRef':{'$ref':'atomic'}}}}}},"
		"'ports':{'x-key':'containerPort,protocol','items':{'required':['containerPort'],"
		"'x-fields':'containerPort,hostIP,hostPort,name,protocol','properties':{"
		"'containerPort':{'type':'integer','minimum':1,'maximum':65535},"
		"'protocol':{'type':'string','default':'TCP'}}}},"
		"'volumeMounts':{'x-key':'mountPath','items':{'$ref':'open'}},"
		"'volumeDevices':{'x-key':'devicePath','items':{'$ref':'open'}},"
		"'resources':{'x-open':true,'x-always':true,'default':{},'properties':{"
		"'claims':{'$ref':'named'}}},"
		"'terminationMessagePath':{'type':'string','default':'/dev/termination-log'},"
		"'terminationMessagePolicy':{'type':'string','default':'File'}}}"},
	{"podSpec",
		"{'x-always':true,'required':['containers'],'x-fields':'activeDeadlineSeconds,"
		"affinity,"
		"automountServiceAccountToken,containers,dnsConfig,dnsPolicy,enableServiceLinks,"
		"ephemeralContainers,hostAliases,hostIPC,hostNetwork,hostPID,hostUsers,hostname,"
		"hostnameOverride,imagePullSecrets,initContainers,nodeName,nodeSelector,os,"
		"overhead,"
		"preemptionPolicy,priority,priorityClassName,readinessGates,resourceClaims,"
		"resources,"
		"restartPolicy,runtimeClassName,schedulerName,schedulingGates,securityContext,"
		"serviceAccount,"
		"serviceAccountName,setHostnameAsFQDN,shareProcessNamespace,subdomain,"
		"terminationGracePeriodSeconds,tolerations,topologySpreadConstraints,volumes','"
		"properties':{"
		"'containers':{'x-key':'name','x-always':true,'items':{'$ref':'"
		"container'}},"
		"'initContainers':{'x-key':'name','items':{'$ref':'container'}},"
		"'volumes':{'$ref':'named'},'imagePullSecrets':{'$ref':'named'},"
		"'hostAliases':{'x-key':'ip','items':{'$ref':'open'}},'nodeSelector':{'$ref':'"
		"atomic'},"
		"'restartPolicy':{'type':'string','enum':['Always','OnFailure','Never'],'default':'"
		"Always'},"
		"'terminationGracePeriodSeconds':{'type':'integer','default':30},"
		"'dnsPolicy':{'type':'string','default':'ClusterFirst'},"
		"'securityContext':{'x-open':true,'default':{}},"
		"'schedulerName':{'type':'string','default':'default-scheduler'}}}"},
	{"template", "{'x-always':true,'x-fields':'metadata,spec','properties':{'metadata':{'$ref':"
		     "'meta'},"
		     "'spec':{'$ref':'podSpec'}}}"},
	{"pod", FULL_KIND "'spec':{'$ref':'podSpec'}}}"},
	{"deployment", FULL_KIND
		"'spec':{" SELECTED
		",'x-always':true,'default':{},'x-fields':'minReadySeconds,paused,"
		"progressDeadlineSeconds,replicas,revisionHistoryLimit,selector,strategy,template',"
		"'properties':{" WORKLOAD "," REPLICAS "," HISTORY ","
		"'strategy':{'x-fields':'type,rollingUpdate','x-always':true,'default':{},'"
		"properties':{"
		"'type':{'type':'string','enum':['Recreate','RollingUpdate'],'default':'"
		"RollingUpdate'},"
		"'rollingUpdate':{'x-open':true}}},"
		"'progressDeadlineSeconds':{'type':'integer','default':600}}}}}"},
	{"replicaset", FULL_KIND
		"'spec':{" SELECTED ",'x-always':true,'default':{},"
		"'x-fields':'minReadySeconds,replicas,selector,template','properties':{" WORKLOAD
		"," REPLICAS "}}}}"},
	{"statefulset", FULL_KIND
		"'spec':{" SELECTED ",'x-open':true,'x-always':true,'properties':{" WORKLOAD
		"," REPLICAS "," HISTORY ",'podManagementPolicy':{'type':'string',"
		"'default':'OrderedReady'}}}}}"},
	{"daemonset", FULL_KIND "'spec':{" SELECTED
				",'x-open':true,'x-always':true,'properties':{" WORKLOAD "," HISTORY
				"}}}}"},
	{"job", FULL_KIND "'spec':{'required':['template'],'x-open':true,'x-always':true,'"
			  "properties':{" WORKLOAD ",'parallelism':{'type':'integer','default':1},"
			  "'completions':{'type':'integer','default':1},"
			  "'backoffLimit':{'type':'integer','default':6}}}}}"},
	{"service", FULL_KIND
		"'spec':{'x-always':true,'x-fields':'allocateLoadBalancerNodePorts,clusterIP,"
		"clusterIPs,"
		"externalIPs,externalName,externalTrafficPolicy,healthCheckNodePort,"
		"internalTrafficPolicy,"
		"ipFamilies,ipFamilyPolicy,loadBalancerClass,loadBalancerIP,"
		"loadBalancerSourceRanges,ports,"
		"publishNotReadyAddresses,selector,sessionAffinity,sessionAffinityConfig,"
		"trafficDistribution,"
		"type','properties':{'selector':{'$ref':'atomic'},"
		"'ports':{'x-key':'port,protocol','items':{'required':['port'],"
		"'x-fields':'appProtocol,name,nodePort,port,protocol,targetPort','properties':{"
		"'port':{'type':'integer','minimum':1,'maximum':65535},"
		"'protocol':{'type':'string','default':'TCP'}}}},"
		"'type':{'type':'string','enum':['ClusterIP','ExternalName','LoadBalancer','"
		"NodePort'],"
		"'default':'ClusterIP'},'sessionAffinity':{'type':'string','default':'None'},"
		"'internalTrafficPolicy':{'type':'string','default':'Cluster'}}}}}"},
	{"configmap",
		"{'x-fields':'apiVersion,kind,metadata,data,binaryData,immutable','properties':"
		"{" META ",'data':{'$ref':'strings'},'binaryData':{'$ref':'strings'}}}"},
	{"secret",
		"{'x-fields':'apiVersion,kind,metadata,data,stringData,immutable,type','properties'"
		":{" META ",'data':{'$ref':'strings'},'stringData':{'$ref':'strings'},"
		"'type':{'type':'string','default':'Opaque'}}}"},
	{"serviceaccount",
		"{'x-open':true,'properties':{" META ",'secrets':{'$ref':'named'},"
		"'imagePullSecrets':{'type':'array','x-kubernetes-list-type':'atomic'}}}"},
	{"namespace", FULL_KIND "'spec':{'x-open':true,'x-always':true}}}"},
	{"crd", FULL_KIND "'spec':{'x-open':true,'x-always':true,'required':['group','names','"
			  "scope','versions'],"
			  "'properties':{'group':{'$ref':'string'},"
			  "'scope':{'type':'string','enum':['Cluster','Namespaced']},"
			  "'names':{'x-open':true,'x-always':true,'required':['kind','plural']},"
			  "'conversion':{'x-open':true,'default':{'strategy':'None'}},"
			  "'versions':{'type':'array','items':{'x-open':true,"
			  "'required':['name','served','storage']}}}}}}"},
	{NULL, NULL},
};
