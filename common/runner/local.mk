# Runs programs for processes that must not execute any: the side of the process that asks, and the runner itself.
noinst_LIBRARIES += librunner.a
librunner_a_SOURCES = common/runner/runner.h common/runner/client.c common/runner/client.h common/runner/run.c \
	common/runner/stream.c common/runner/stream.h common/runner/result.c \
	common/runner/protocol.h common/runner/protocol.c \
	common/runner/process.h common/runner/process.c common/runner/keeper.c common/runner/program.c
