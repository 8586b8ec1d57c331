# Fuzz targets. With --enable-fuzzers (clang) each is a libFuzzer program:
#   configure CC=clang --enable-fuzzers --enable-sanitizers && make
#   tests/fuzz/fuzz_yaml -max_total_time=60 FOUND SOURCE/tests/fuzz/seeds/yaml
# Otherwise a driver runs each over its seeds and FUZZ_RUNS changed ones, as a part of `make check`.
data_fuzzers = tests/fuzz/fuzz_json tests/fuzz/fuzz_jsonscan_object tests/fuzz/fuzz_jsonscan_event \
	tests/fuzz/fuzz_jsonscan_list tests/fuzz/fuzz_log tests/fuzz/fuzz_yaml
kube_fuzzers = tests/fuzz/fuzz_exec_answer tests/fuzz/fuzz_kubeconfig tests/fuzz/fuzz_path tests/fuzz/fuzz_status \
	tests/fuzz/fuzz_url tests/fuzz/fuzz_watch_lines
template_fuzzers = tests/fuzz/fuzz_config tests/fuzz/fuzz_render
fuzzers = $(data_fuzzers) tests/fuzz/fuzz_records $(kube_fuzzers) $(template_fuzzers)
CLEANFILES += fuzz_*.crash
EXTRA_DIST += tests/fuzz/seeds

if ENABLE_FUZZERS
noinst_PROGRAMS += $(fuzzers)
fuzz_driver =
fuzz_ldflags = -fsanitize=fuzzer
else
check_PROGRAMS += $(fuzzers)
TESTS += $(fuzzers)
fuzz_driver = tests/fuzz/driver.c
fuzz_ldflags =
endif
fuzz_cppflags = $(AM_CPPFLAGS) $(CJSON_CFLAGS) -DSEEDS='"$(abs_top_srcdir)/tests/fuzz/seeds"'

fuzz_kube_libs = libkubeexec.a libkube.a libkubehttp.a libkube.a libloop.a libcommon.a libloop.a $(KUBEHTTP_LIBS) $(LOOP_LIBS) $(COMMON_LIBS)

tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_json_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_json_LDADD = libcommon.a $(COMMON_LIBS)

tests_fuzz_fuzz_jsonscan_object_SOURCES = tests/fuzz/fuzz_jsonscan_object.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_jsonscan_object_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_jsonscan_object_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_jsonscan_object_LDADD = libcommon.a $(COMMON_LIBS)

tests_fuzz_fuzz_jsonscan_event_SOURCES = tests/fuzz/fuzz_jsonscan_event.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_jsonscan_event_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_jsonscan_event_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_jsonscan_event_LDADD = libcommon.a $(COMMON_LIBS)

tests_fuzz_fuzz_jsonscan_list_SOURCES = tests/fuzz/fuzz_jsonscan_list.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_jsonscan_list_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_jsonscan_list_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_jsonscan_list_LDADD = libcommon.a $(COMMON_LIBS)

tests_fuzz_fuzz_log_SOURCES = tests/fuzz/fuzz_log.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_log_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_log_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_log_LDADD = libcommon.a libloop.a $(LOOP_LIBS) $(COMMON_LIBS)

tests_fuzz_fuzz_yaml_SOURCES = tests/fuzz/fuzz_yaml.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_yaml_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_yaml_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_yaml_LDADD = libcommon.a $(COMMON_LIBS)

tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_config_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_config_LDADD = libconfig.a libtemplate.a libkube.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS)

tests_fuzz_fuzz_exec_answer_SOURCES = tests/fuzz/fuzz_exec_answer.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_exec_answer_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_exec_answer_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_exec_answer_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_kubeconfig_SOURCES = tests/fuzz/fuzz_kubeconfig.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_kubeconfig_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_kubeconfig_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_kubeconfig_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_path_SOURCES = tests/fuzz/fuzz_path.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_path_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_path_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_path_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_status_SOURCES = tests/fuzz/fuzz_status.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_status_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_status_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_status_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_url_SOURCES = tests/fuzz/fuzz_url.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_url_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_url_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_url_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_watch_lines_SOURCES = tests/fuzz/fuzz_watch_lines.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_watch_lines_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_watch_lines_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_watch_lines_LDADD = $(fuzz_kube_libs)

tests_fuzz_fuzz_records_SOURCES = tests/fuzz/fuzz_records.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_records_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_records_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_records_LDADD = libcommon.a libloop.a $(LOOP_LIBS) $(COMMON_LIBS)

tests_fuzz_fuzz_render_SOURCES = tests/fuzz/fuzz_render.c tests/fuzz/fuzz.h $(fuzz_driver)
tests_fuzz_fuzz_render_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_render_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_fuzz_render_LDADD = libtemplate.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS)
