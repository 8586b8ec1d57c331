unit_config = tests/unit/check_config
tests_unit_check_config_SOURCES = tests/unit/check_config.c
tests_unit_check_config_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_config_LDADD = libconfig.a libtemplate.a libkube.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) \
	$(COMMON_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/unit/config
