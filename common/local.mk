# Archives: libcommon (no policy, nothing of the system's event loop), libloop with the clock, and libproc, which
# are apart so that the simulator can link its own instead.
noinst_LIBRARIES += libcommon.a libloop.a libproc.a
libcommon_a_SOURCES = common/error.h common/error.c common/base64.h common/base64.c common/buf.c common/memory.c common/log.c \
	common/log_compose.c common/log_line.h common/log_line.c common/log_mask.c common/log_repeat.c common/log_secrets.c common/log_sink.c common/records.c common/worker_state.c \
	common/backoff.c common/clock_text.c common/buf.h common/memory.h common/log.h common/backoff.h \
	common/json.h common/jsonscan.h common/yaml.h common/clock.h common/records.h common/worker_state.h \
	common/metrics.h common/scoreboard.h common/control_path.h common/control_path.c \
	common/spelling.h common/spelling.c common/utf8.h common/utf8.c common/metrics.c common/metrics_text.c common/scoreboard.c
libcommon_a_SOURCES += common/json.c common/json_number.h common/json_print.c common/json_wrap.c common/jsonscan.c \
	common/jsonscan_list.c common/jsonscan_object.c common/jsonscan_string.c common/jsonscan_strip.c common/jsonscan_token.h \
	common/yaml.c common/yaml_check.c common/yaml_map.c common/yaml_fold.c common/yaml_parts.h \
	common/yaml_quote.c common/yaml_scalar.c common/yaml_tree.c
libcommon_a_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) $(FYAML_CFLAGS) $(XXHASH_CFLAGS)
COMMON_LIBS = $(CJSON_LIBS) $(FYAML_LIBS) $(XXHASH_LIBS) -lm
libloop_a_SOURCES = common/loop/loop.h common/loop/loop.c common/clock.c
LOOP_LIBS = $(EV_LIBS)
libproc_a_SOURCES = common/proc/proc.h common/proc/children.c common/proc/spawn.c common/proc/fds.h common/proc/fds.c \
	common/proc/status.c common/proc/title.c
# The cage of workers and checker: the only user of libseccomp.
noinst_LIBRARIES += libsandbox.a
libsandbox_a_SOURCES = common/sandbox/sandbox.h common/sandbox/sandbox.c common/sandbox/layers.h common/sandbox/capabilities.c \
	common/sandbox/landlock.c common/sandbox/places.c common/sandbox/syscalls.c
libsandbox_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
SANDBOX_LIBS = $(SECCOMP_LIBS)
