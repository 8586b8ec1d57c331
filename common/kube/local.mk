# The Kubernetes client; http.c, the only user of libcurl, is an archive of its own, so that the simulator can link its own.
noinst_LIBRARIES += libkube.a libkubehttp.a
libkube_a_SOURCES = common/kube/kubeconfig.h common/kube/client.h common/kube/path.h \
	common/kube/discovery.h common/kube/listwatch.h common/kube/write.h common/kube/names.h
libkubehttp_a_SOURCES = common/kube/http.h
