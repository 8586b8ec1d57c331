noinst_LIBRARIES += libtemplate.a
libtemplate_a_SOURCES = common/template/template.h common/template/expression.h common/template/expression.c common/template/words.c \
	common/template/skeleton.h common/template/skeleton.c common/template/machine.h common/template/machine.c \
	common/template/problem.h common/template/problem.c common/template/hint.h common/template/hint.c common/template/value.h common/template/value.c \
	common/template/program.h common/template/program.c common/template/input.c common/template/render.c
libtemplate_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
