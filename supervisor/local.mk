noinst_LIBRARIES += libsupervisor.a
libsupervisor_a_SOURCES = supervisor/supervisor.h
