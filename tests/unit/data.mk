unit_data = tests/unit/check_json tests/unit/check_jsonscan tests/unit/check_jsonscan_portable tests/unit/check_jsonscan_list \
	tests/unit/check_yaml
data_test_libs = libcommon.a $(COMMON_LIBS) $(CHECK_LIBS)

tests_unit_check_json_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_json_LDADD = $(data_test_libs)

tests_unit_check_jsonscan_CPPFLAGS = $(tests_unit_check_json_CPPFLAGS)
tests_unit_check_jsonscan_LDADD = $(data_test_libs)

# The same tests on the code that other processors get.
tests_unit_check_jsonscan_portable_SOURCES = tests/unit/check_jsonscan.c common/jsonscan.c common/jsonscan_object.c \
	common/jsonscan_string.c common/jsonscan_strip.c
tests_unit_check_jsonscan_portable_CPPFLAGS = $(tests_unit_check_json_CPPFLAGS) -DJSONSCAN_PORTABLE
tests_unit_check_jsonscan_portable_LDADD = $(data_test_libs)

tests_unit_check_jsonscan_list_CPPFLAGS = $(tests_unit_check_json_CPPFLAGS)
tests_unit_check_jsonscan_list_LDADD = $(data_test_libs)

tests_unit_check_yaml_CPPFLAGS = $(tests_unit_check_json_CPPFLAGS)
tests_unit_check_yaml_LDADD = $(data_test_libs)
