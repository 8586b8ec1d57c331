unit_devserver = tests/unit/check_devserver tests/unit/check_devserver_apply tests/unit/check_devserver_schema
# The clock is the fixture's: no libloop.
devserver_test_libs = $(DEVSERVER_LIBS) $(CHECK_LIBS)
devserver_test_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
devserver_fixture = tests/unit/devserver_fixture.h tests/unit/devserver_fixture.c

tests_unit_check_devserver_SOURCES = tests/unit/check_devserver.c $(devserver_fixture)
tests_unit_check_devserver_CPPFLAGS = $(devserver_test_cppflags)
tests_unit_check_devserver_LDADD = $(devserver_test_libs)
tests_unit_check_devserver_apply_SOURCES = tests/unit/check_devserver_apply.c $(devserver_fixture)
tests_unit_check_devserver_apply_CPPFLAGS = $(devserver_test_cppflags)
tests_unit_check_devserver_apply_LDADD = $(devserver_test_libs)
tests_unit_check_devserver_schema_SOURCES = tests/unit/check_devserver_schema.c $(devserver_fixture)
tests_unit_check_devserver_schema_CPPFLAGS = $(devserver_test_cppflags)
tests_unit_check_devserver_schema_LDADD = $(devserver_test_libs)
