unit_workers = tests/unit/check_store tests/unit/check_queue tests/unit/check_status tests/unit/check_plan tests/unit/check_objects
workers_unit_libs = libworkers.a libconfig.a libtemplate.a libkube.a libkubehttp.a libcommon.a libloop.a $(CURL_LIBS) $(SSL_LIBS) \
	$(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_store_SOURCES = tests/unit/check_store.c
tests_unit_check_store_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_store_LDADD = $(workers_unit_libs)
tests_unit_check_queue_SOURCES = tests/unit/check_queue.c
tests_unit_check_queue_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_queue_LDADD = $(workers_unit_libs)
tests_unit_check_status_SOURCES = tests/unit/check_status.c
tests_unit_check_status_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_status_LDADD = $(workers_unit_libs)
tests_unit_check_plan_SOURCES = tests/unit/check_plan.c
tests_unit_check_plan_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_plan_LDADD = $(workers_unit_libs)
tests_unit_check_objects_SOURCES = tests/unit/check_objects.c
tests_unit_check_objects_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_objects_LDADD = $(workers_unit_libs)
