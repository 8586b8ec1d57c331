# Unit tests with Check: one program a module, tests/unit/check_MODULE.c, each built by `make check`. Each folder's owner
# adds its programs to a list of its own below.
if HAVE_CHECK
check_PROGRAMS += $(unit_common) $(unit_runner) $(unit_data) $(unit_config) $(unit_kube) $(unit_template) $(unit_supervisor) $(unit_workers) \
	$(unit_ctl) $(unit_devserver)
TESTS += $(unit_common) $(unit_runner) $(unit_data) $(unit_config) $(unit_kube) $(unit_template) $(unit_supervisor) $(unit_workers) \
	$(unit_ctl) $(unit_devserver)
endif
include tests/unit/common.mk
include tests/unit/runner.mk
include tests/unit/data.mk
include tests/unit/config.mk
include tests/unit/kube.mk
include tests/unit/template.mk
include tests/unit/supervisor.mk
include tests/unit/workers.mk
include tests/unit/ctl.mk
include tests/unit/devserver.mk
