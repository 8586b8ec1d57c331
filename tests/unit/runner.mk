unit_runner = tests/unit/check_runner tests/unit/check_runner_hostile
runner_test_fixture = tests/unit/runner_fixture.h tests/unit/runner_fixture.c
runner_test_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
runner_test_libs = librunner.a $(common_test_libs)

tests_unit_check_runner_SOURCES = tests/unit/check_runner.c $(runner_test_fixture)
tests_unit_check_runner_CPPFLAGS = $(runner_test_cppflags)
tests_unit_check_runner_LDADD = $(runner_test_libs)
tests_unit_check_runner_hostile_SOURCES = tests/unit/check_runner_hostile.c $(runner_test_fixture)
tests_unit_check_runner_hostile_CPPFLAGS = $(runner_test_cppflags)
tests_unit_check_runner_hostile_LDADD = $(runner_test_libs)
