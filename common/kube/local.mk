# The Kubernetes client; http.c, the only user of libcurl, is an archive of its own, so that the simulator can link its own.
noinst_LIBRARIES += libkube.a libkubehttp.a libkubeexec.a
libkube_a_SOURCES = common/kube/kubeconfig.h common/kube/client.h common/kube/path.h \
	common/kube/discovery.h common/kube/listwatch.h common/kube/write.h common/kube/names.h \
	common/kube/path.c common/kube/url.h common/kube/url.c \
	common/kube/kubeconfig.c common/kube/kubeconfig_set.h common/kube/kubeconfig_set.c common/kube/kubeconfig_user.c common/kube/kubeconfig_exec.c \
	common/kube/kubeconfig_target.c common/kube/kubeconfig_pod.c common/kube/identity.h common/kube/identity.c common/kube/judge.h common/kube/judge.c \
	common/kube/credentials.h common/kube/credentials.c common/kube/renewal.h common/kube/renewal.c common/kube/client_internal.h common/kube/client.c common/kube/client_wait.c common/kube/write.c \
	common/kube/discovery.c common/kube/discovery_find.c common/kube/discovery_list.h common/kube/discovery_list.c \
	common/kube/watch_lines.h common/kube/watch_lines.c common/kube/listwatch_internal.h \
	common/kube/listwatch.c common/kube/listwatch_list.c common/kube/listwatch_watch.c
libkube_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
libkubehttp_a_SOURCES = common/kube/http.h common/kube/http.c common/kube/http_internal.h common/kube/http_easy.c \
	common/kube/http_header.h common/kube/http_header.c common/kube/http_tls.h common/kube/http_tls.c
libkubehttp_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(SSL_CFLAGS)
KUBEHTTP_LIBS = $(CURL_LIBS) $(SSL_LIBS)
# Credentials from programs; an archive of its own, since it needs common/runner.
libkubeexec_a_SOURCES = common/kube/exec.h common/kube/exec.c common/kube/exec_answer.h common/kube/exec_answer.c
libkubeexec_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
