# One controller in a process: everything but the program around it.
noinst_LIBRARIES += libworkers.a
libworkers_a_SOURCES = workers/worker.c workers/worker.h \
	workers/children.c workers/children.h \
	workers/conditions.c workers/conditions.h \
	workers/controller.c workers/controller.h workers/engine.h \
	workers/events.c workers/events.h \
	workers/member.c workers/member.h \
	workers/mirror.c workers/mirror.h \
	workers/objects.c workers/objects.h \
	workers/plan.c workers/plan_status.c workers/plan.h \
	workers/planner.c workers/planner.h \
	workers/prune.c workers/prune.h \
	workers/queue.c workers/queue.h \
	workers/reconcile.c workers/reconcile_prune.c workers/reconcile_status.c \
	workers/reconcile.h workers/reconcile_internal.h \
	workers/status.c workers/status.h \
	workers/store.c workers/store.h \
	workers/throttle.c workers/throttle.h
libworkers_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(XXHASH_CFLAGS)
