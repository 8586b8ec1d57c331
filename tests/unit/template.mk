unit_template = tests/unit/check_template
tests_unit_check_template_SOURCES = tests/unit/check_template.c
tests_unit_check_template_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(CJSON_CFLAGS)
tests_unit_check_template_LDADD = libtemplate.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS) $(CHECK_LIBS)
