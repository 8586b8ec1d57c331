# One controller in a process: everything but the program around it.
noinst_LIBRARIES += libworkers.a
libworkers_a_SOURCES = workers/worker.h \
	workers/conditions.c workers/conditions.h \
	workers/plan.c workers/plan_status.c workers/plan.h \
	workers/planner.c workers/planner.h \
	workers/queue.c workers/queue.h \
	workers/status.c workers/status.h \
	workers/store.c workers/store.h \
	workers/throttle.c workers/throttle.h
libworkers_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(XXHASH_CFLAGS)
