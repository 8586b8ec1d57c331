noinst_LIBRARIES += libsupervisor.a
libsupervisor_a_SOURCES = supervisor/supervisor.h supervisor/restart.h supervisor/restart.c supervisor/checker.h supervisor/checker.c \
	supervisor/worker.h supervisor/worker.c
libsupervisor_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(MHD_CFLAGS) $(SSL_CFLAGS)
