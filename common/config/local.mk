noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = common/config/config.h common/config/check.h \
	common/config/check.c common/config/checker.h \
	common/config/child.c common/config/child_fields.c common/config/child_ties.c \
	common/config/field_path.c common/config/field_path.h \
	common/config/decode.c \
	common/config/depends.c \
	common/config/document.c \
	common/config/duration.c common/config/duration.h \
	common/config/effective.c common/config/effective.h \
	common/config/files.c common/config/files.h \
	common/config/free_value.c \
	common/config/names.c \
	common/config/place.c common/config/place.h \
	common/config/print.c \
	common/config/problems.c common/config/problems.h \
	common/config/quantity.c common/config/quantity.h \
	common/config/schema.c common/config/schema.h \
	common/config/selector.c \
	common/config/special_value.c \
	common/config/syntax.c common/config/syntax.h \
	common/config/template_file.c common/config/template_file.h \
	common/config/templates.c \
	common/config/validate.c common/config/validate.h \
	common/config/value.c common/config/value.h
libconfig_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
