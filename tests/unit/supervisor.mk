unit_supervisor = tests/unit/check_poison tests/unit/check_life tests/unit/check_restart tests/unit/check_checker tests/unit/check_supervisor \
	tests/unit/check_supervisor_reload tests/unit/check_supervisor_auto tests/unit/check_supervisor_doors tests/unit/check_pages
unit_supervisor += tests/unit/check_notify tests/unit/check_oom tests/unit/check_service
supervisor_test_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
supervisor_test_libs = libsupervisor.a libconfig.a libtemplate.a libkube.a libproc.a libsandbox.a libcommon.a libloop.a libcommon.a \
	$(SANDBOX_LIBS) $(MHD_LIBS) $(JQ_LIBS) $(SSL_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)
# A whole supervisor in a process, with workers that pretend.
supervisor_test_site = tests/unit/supervisor_fixture.h tests/unit/supervisor_fixture.c tests/unit/supervisor_fake.c

tests_unit_check_poison_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_poison_LDADD = $(supervisor_test_libs)

tests_unit_check_restart_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_restart_LDADD = $(supervisor_test_libs)

tests_unit_check_oom_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_oom_LDADD = $(supervisor_test_libs)

tests_unit_check_notify_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_notify_LDADD = $(supervisor_test_libs)

tests_unit_check_service_SOURCES = tests/unit/check_service.c $(supervisor_test_site)
tests_unit_check_service_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_service_LDADD = $(supervisor_test_libs)

tests_unit_check_supervisor_SOURCES = tests/unit/check_supervisor.c $(supervisor_test_site)
tests_unit_check_supervisor_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_supervisor_LDADD = $(supervisor_test_libs)

tests_unit_check_supervisor_reload_SOURCES = tests/unit/check_supervisor_reload.c $(supervisor_test_site)
tests_unit_check_supervisor_reload_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_supervisor_reload_LDADD = $(supervisor_test_libs)

tests_unit_check_supervisor_auto_SOURCES = tests/unit/check_supervisor_auto.c $(supervisor_test_site)
tests_unit_check_supervisor_auto_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_supervisor_auto_LDADD = $(supervisor_test_libs)

# Without libconfig: the test brings its own config_check().
tests_unit_check_checker_SOURCES = tests/unit/check_checker.c supervisor/checker.c
tests_unit_check_checker_CPPFLAGS = $(supervisor_test_cppflags) -DCHECKER_LIMIT_S=2
tests_unit_check_checker_LDADD = libproc.a libsandbox.a libloop.a libcommon.a libloop.a $(SANDBOX_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)

tests_unit_check_supervisor_doors_SOURCES = tests/unit/check_supervisor_doors.c $(supervisor_test_site)
tests_unit_check_supervisor_doors_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_supervisor_doors_LDADD = $(supervisor_test_libs)

tests_unit_check_pages_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_pages_LDADD = $(supervisor_test_libs)

# With a clock, a loop and processes of its own: libloop is not linked, nor what of libproc and libcommon it stands for.
tests_unit_check_life_SOURCES = tests/unit/check_life.c tests/unit/life_fixture.h tests/unit/life_fixture.c
tests_unit_check_life_CPPFLAGS = $(supervisor_test_cppflags)
tests_unit_check_life_LDADD = libsupervisor.a libconfig.a libtemplate.a libkube.a libproc.a libsandbox.a libcommon.a \
	$(SANDBOX_LIBS) $(JQ_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)
