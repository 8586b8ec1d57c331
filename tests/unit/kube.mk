unit_kube = tests/unit/check_path tests/unit/check_kubeconfig tests/unit/check_http tests/unit/check_client tests/unit/check_exec \
	tests/unit/check_discovery tests/unit/check_listwatch

kube_test_server = tests/unit/https_server.h tests/unit/https_server.c tests/unit/https_certs.h tests/unit/https_certs.c \
	tests/unit/kube_fixture.h tests/unit/kube_fixture.c
kube_test_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(SSL_CFLAGS) $(CHECK_CFLAGS)
kube_test_libs = libkube.a libkubehttp.a libkube.a libloop.a libcommon.a libloop.a $(KUBEHTTP_LIBS) $(LOOP_LIBS) \
	$(COMMON_LIBS) $(CHECK_LIBS)

tests_unit_check_path_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_path_LDADD = $(kube_test_libs)

tests_unit_check_kubeconfig_SOURCES = tests/unit/check_kubeconfig.c $(kube_test_server)
tests_unit_check_kubeconfig_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_kubeconfig_LDADD = $(kube_test_libs)

tests_unit_check_http_SOURCES = tests/unit/check_http.c $(kube_test_server)
tests_unit_check_http_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_http_LDADD = $(kube_test_libs)

tests_unit_check_client_SOURCES = tests/unit/check_client.c $(kube_test_server)
tests_unit_check_client_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_client_LDADD = $(kube_test_libs)

tests_unit_check_discovery_SOURCES = tests/unit/check_discovery.c $(kube_test_server)
tests_unit_check_discovery_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_discovery_LDADD = $(kube_test_libs)

tests_unit_check_listwatch_SOURCES = tests/unit/check_listwatch.c $(kube_test_server)
tests_unit_check_listwatch_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_listwatch_LDADD = $(kube_test_libs)

tests_unit_check_exec_SOURCES = tests/unit/check_exec.c $(kube_test_server)
tests_unit_check_exec_CPPFLAGS = $(kube_test_cppflags)
tests_unit_check_exec_LDADD = libkubeexec.a libkube.a libkubehttp.a librunner.a libproc.a $(kube_test_libs)
