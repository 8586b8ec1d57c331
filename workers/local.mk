# One controller in a process: everything but the program around it.
noinst_LIBRARIES += libworkers.a
libworkers_a_SOURCES = workers/worker.c workers/worker.h \
	workers/cage.c workers/cage.h \
	workers/child.c workers/children.c workers/children_deletion.c workers/children_fields.c workers/children.h workers/children_internal.h \
	workers/conditions.c workers/conditions.h \
	workers/connect.c workers/connect.h \
	workers/controller.c workers/controller_remove.c workers/controller_state.c workers/controller.h workers/controller_internal.h workers/engine.h \
	workers/deadlines.c workers/deadlines.h \
	workers/events.c workers/events.h \
	workers/for_each.c \
	workers/finalizer.c workers/finalizer.h \
	workers/leaving.c workers/leaving.h \
	workers/member.c workers/member.h \
	workers/mirror.c workers/mirror_objects.c workers/mirror.h workers/mirror_internal.h \
	workers/objects.c workers/objects.h \
	workers/plan.c workers/plan_fields.c workers/plan_status.c workers/plan.h \
	workers/planner.c workers/planner.h \
	workers/prune.c workers/prune.h \
	workers/quarantine.c workers/quarantine.h \
	workers/queue.c workers/queue_table.c workers/queue.h workers/queue_internal.h \
	workers/reconcile.c workers/reconcile_children.c workers/reconcile_conflict.c workers/reconcile_replace.c workers/reconcile_delete.c workers/reconcile_finalizer.c workers/reconcile_remove.c workers/reconcile_parts.c workers/reconcile_prune.c workers/reconcile_ready.c workers/reconcile_status.c \
	workers/reconcile.h workers/reconcile_internal.h \
	workers/status.c workers/status.h \
	workers/readiness.c workers/readiness.h \
	workers/releases.c workers/releases.h \
	workers/store.c workers/store_read.c workers/store_region.c workers/store.h workers/store_internal.h \
	workers/throttle.c workers/throttle.h
libworkers_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(XXHASH_CFLAGS)
