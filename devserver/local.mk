# The API server without a socket is an archive of its own: the simulator and the unit tests call it in-process.
noinst_LIBRARIES += libdevserver.a
libdevserver_a_SOURCES = devserver/api.h devserver/api.c devserver/admit.h devserver/admit.c \
	devserver/behave.h devserver/behave.c devserver/builtin.c devserver/builtin_schemas.c devserver/options.h devserver/options.c devserver/typed.h devserver/typed.c devserver/call.h devserver/call.c \
	devserver/causes.h devserver/convert.c devserver/crd.h devserver/crd.c devserver/defaults.h devserver/defaults.c \
	devserver/delete.c devserver/discovery.h devserver/discovery.c devserver/fields.h devserver/fields.c devserver/gc.h \
	devserver/gc.c devserver/kinds.h devserver/kinds.c devserver/managed.h devserver/managed.c devserver/merge.h \
	devserver/merge.c devserver/names.h devserver/names.c devserver/openapi.c devserver/patch.h devserver/patch.c \
	devserver/read.h devserver/read.c devserver/render.h devserver/render.c devserver/scale.h devserver/scale.c \
	devserver/schema.h devserver/schema.c devserver/selectors.h devserver/selectors.c devserver/server.h \
	devserver/status.c devserver/store.h devserver/store.c devserver/table.h devserver/table.c devserver/tree.h \
	devserver/tree.c devserver/validate.c devserver/watch.h devserver/watch.c devserver/work.c devserver/write.h \
	devserver/write.c
libdevserver_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
DEVSERVER_LIBS = libdevserver.a libcommon.a $(COMMON_LIBS)
bin_PROGRAMS += operatord-devserver
operatord_devserver_SOURCES = devserver/main.c devserver/http.h devserver/http.c devserver/tls.h devserver/tls.c \
	devserver/kubeconfig_file.h devserver/kubeconfig_file.c
operatord_devserver_CPPFLAGS = $(AM_CPPFLAGS) $(MHD_CFLAGS) $(SSL_CFLAGS)
operatord_devserver_LDADD = libdevserver.a libloop.a libcommon.a $(COMMON_LIBS) $(LOOP_LIBS) $(MHD_LIBS) $(SSL_LIBS)
