# The Kubernetes client; http.c, the only user of libcurl, is an archive of its own, so that the simulator can link its own.
noinst_LIBRARIES += libkube.a libkubehttp.a
libkube_a_SOURCES =
libkubehttp_a_SOURCES =
