noinst_LIBRARIES += libsupervisor.a
libsupervisor_a_SOURCES = supervisor/supervisor.h supervisor/poison.h supervisor/poison.c supervisor/restart.h supervisor/restart.c supervisor/checker.h supervisor/checker.c \
	supervisor/worker.h supervisor/worker.c supervisor/worker_internal.h supervisor/worker_config.c supervisor/worker_process.c supervisor/worker_view.c supervisor/core.h supervisor/supervisor.c supervisor/stop.c supervisor/apply.c supervisor/reload.c \
	supervisor/auto_reload.h supervisor/auto_reload.c supervisor/config_state.h supervisor/config_state.c \
	supervisor/http.h supervisor/http.c supervisor/listen.h supervisor/listen.c supervisor/acceptor.h supervisor/acceptor.c supervisor/pages.h supervisor/health.c supervisor/metrics_page.c supervisor/oom.h supervisor/oom.c supervisor/usage.h supervisor/usage.c supervisor/status.c \
	supervisor/control.h supervisor/control.c \
	supervisor/notify.h supervisor/notify.c supervisor/service.h supervisor/service.c
libsupervisor_a_CPPFLAGS = $(AM_CPPFLAGS) $(XXHASH_CFLAGS) $(CJSON_CFLAGS) $(MHD_CFLAGS) $(SSL_CFLAGS)
sbin_PROGRAMS += operatord
operatord_SOURCES = supervisor/main.c
operatord_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
# The order is that of the dependencies: an archive stands before those that it needs.
operatord_LDADD = libsupervisor.a libworkers.a libconfig.a libtemplate.a libkubeexec.a libkube.a libkubehttp.a librunner.a libproc.a libsandbox.a libcommon.a libloop.a libcommon.a \
	$(SANDBOX_LIBS) $(MHD_LIBS) $(JQ_LIBS) $(CURL_LIBS) $(SSL_LIBS) $(LOOP_LIBS) $(COMMON_LIBS)
