# Measurements, built with everything, run by hand.
noinst_PROGRAMS += tests/bench/bench_jsonscan
tests_bench_bench_jsonscan_SOURCES = tests/bench/bench_jsonscan.c
tests_bench_bench_jsonscan_LDADD = libcommon.a $(COMMON_LIBS)
