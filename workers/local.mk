noinst_LIBRARIES += libworkers.a
libworkers_a_SOURCES = workers/worker.h
