unit_template = tests/unit/check_template tests/unit/check_template_bounds
template_test_cppflags = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(CJSON_CFLAGS)
template_test_libs = libtemplate.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)

tests_unit_check_template_CPPFLAGS = $(template_test_cppflags)
tests_unit_check_template_LDADD = $(template_test_libs)

tests_unit_check_template_bounds_CPPFLAGS = $(template_test_cppflags)
tests_unit_check_template_bounds_LDADD = $(template_test_libs)
