# Prints what docs/monitoring.md lists.
check_PROGRAMS += tests/docs/metrics_table
tests_docs_metrics_table_SOURCES = tests/docs/metrics_table.c
tests_docs_metrics_table_CPPFLAGS = $(AM_CPPFLAGS)
tests_docs_metrics_table_LDADD = $(supervisor_test_libs)
