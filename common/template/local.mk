noinst_LIBRARIES += libtemplate.a
libtemplate_a_SOURCES = common/template/template.h
