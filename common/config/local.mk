noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = common/config/config.h common/config/check.h
