# Measurements, built with everything, run by hand.
noinst_PROGRAMS += tests/bench/bench_jsonscan
tests_bench_bench_jsonscan_SOURCES = tests/bench/bench_jsonscan.c
tests_bench_bench_jsonscan_LDADD = libcommon.a $(COMMON_LIBS)

noinst_PROGRAMS += tests/bench/bench_render
tests_bench_bench_render_SOURCES = tests/bench/bench_render.c
tests_bench_bench_render_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
tests_bench_bench_render_LDADD = libtemplate.a libcommon.a libloop.a $(JQ_LIBS) $(LOOP_LIBS) $(COMMON_LIBS)

noinst_PROGRAMS += tests/bench/bench_store
tests_bench_bench_store_SOURCES = tests/bench/bench_store.c
tests_bench_bench_store_LDADD = libworkers.a libcommon.a libloop.a $(LOOP_LIBS) $(COMMON_LIBS)

noinst_PROGRAMS += tests/bench/bench_runner
tests_bench_bench_runner_SOURCES = tests/bench/bench_runner.c
tests_bench_bench_runner_LDADD = librunner.a libproc.a libloop.a libcommon.a libloop.a $(LOOP_LIBS) $(COMMON_LIBS)

EXTRA_DIST += tests/bench/budgets tests/bench/budgets.txt
