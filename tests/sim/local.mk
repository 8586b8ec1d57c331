# The simulator: the engine with its own loop, clock and HTTP in the place of libloop and libkubehttp.
check_PROGRAMS += tests/sim/sim
tests_sim_sim_SOURCES = tests/sim/sim.c tests/sim/sim.h tests/sim/sim_loop.c tests/sim/sim_http.c tests/sim/world.c tests/sim/world.h \
	tests/sim/invariants.c tests/sim/finalized.c tests/sim/finalized.h tests/sim/sim_plants.c tests/sim/sim_templates.c
EXTRA_DIST += tests/sim/greeting.yaml
tests_sim_sim_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) -DSIM_EXAMPLES='"$(abs_top_srcdir)/examples"' \
	-DSIM_GREETING='"$(abs_top_srcdir)/tests/sim/greeting.yaml"'
tests_sim_sim_LDADD = libworkers.a libconfig.a libtemplate.a libkube.a libdevserver.a libcommon.a $(JQ_LIBS) $(SSL_LIBS) $(COMMON_LIBS)
tests_sim_sim_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=template_compile,--wrap=template_free \
	-Wl,--wrap=backoff_next,--wrap=status_diff,--wrap=mirror_trusted,--wrap=queue_new,--wrap=queue_add,--wrap=queue_done,--wrap=queue_retry
TESTS += tests/sim/sim
