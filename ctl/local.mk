bin_PROGRAMS += operatorctl
operatorctl_SOURCES = ctl/main.c ctl/ctl.h ctl/check.c ctl/list.c ctl/pages.c ctl/rbac.c ctl/release.c ctl/watch.c ctl/reload.c ctl/status.c ctl/loglevel.c ctl/socket.c ctl/cluster.c \
	ctl/table.c
operatorctl_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
operatorctl_LDADD = libworkers.a libconfig.a libtemplate.a libkubeexec.a libkube.a libkubehttp.a librunner.a libproc.a libcommon.a libloop.a libcommon.a $(JQ_LIBS) $(CURL_LIBS) $(SSL_LIBS) \
	$(LOOP_LIBS) $(COMMON_LIBS)
