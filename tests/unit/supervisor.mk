unit_supervisor = tests/unit/check_restart
supervisor_test_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
supervisor_test_libs = libsupervisor.a libconfig.a libtemplate.a libkube.a libproc.a libcommon.a libloop.a libcommon.a \
	$(MHD_LIBS) $(JQ_LIBS) $(SSL_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)

tests_unit_check_restart_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_restart_LDADD = $(supervisor_test_libs)
