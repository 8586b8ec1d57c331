"""operatord.service under a real systemd."""

import ctypes
import json
import os
import re
import time

from conftest import UNIT
from kubeclient import path_of
from programs import wait_for
from sites import controllers_of

NGINX = path_of("nginx", "stable.underneathall.com/v1", "default")
DEPLOYMENTS = path_of("deployments", "apps/v1", "default")


def two(service):
    service.configure(controllers_of("nginx") + controllers_of("uuid"))
    service.start("nginx", "uuid")


def states(service):
    return service.show("ActiveState", "SubState", "Result", "ExecMainStatus", "NRestarts")


def test_active_means_ready(service):
    """READY comes with the workers: start returns when they run, as the unit's own user, in its sandbox."""
    service.configure(controllers_of("nginx") + controllers_of("uuid"))
    service.machine.run("systemctl", "start", UNIT)
    assert states(service)["ActiveState"] == "active"
    processes = service.machine.processes(UNIT)
    assert {"operatord: worker nginx", "operatord: worker uuid"} <= set(processes.values())
    assert re.fullmatch(r"[012] of 2 workers live", service.status_text())
    wait_for("both live in the status line", lambda: service.status_text() == "2 of 2 workers live")
    uid = service.machine.run("id", "-u", "operatord").stdout.strip()
    for pid in processes:
        status = service.machine.run("cat", f"/proc/{pid}/status").stdout
        assert re.search(rf"^Uid:\t{uid}\t{uid}\t", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M)
        assert re.search(r"^NoNewPrivs:\t1$", status, re.M) and re.search(r"^Seccomp:\t2$", status, re.M)


def test_it_works_in_the_sandbox(service):
    two(service)
    service.machine.request("POST", NGINX, {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {"name": "web"},
                                            "spec": {"replicas": 2}})
    made = wait_for("the Deployment", lambda: service.machine.request("GET", f"{DEPLOYMENTS}/web-deploy"))
    assert made["spec"]["replicas"] == 2
    assert all(worker["residentMemoryBytes"] > 0 and not worker["restarts"] for worker in service.workers().values())
    service.machine.request("DELETE", f"{NGINX}/web")


def test_workers_cage_themselves_within_the_units(service):
    """The unit leaves a worker the system calls by which it confines itself further."""
    service.configure(controllers_of("nginx"))
    service.machine.run("systemctl", "start", UNIT)
    filters = {title: int(re.search(r"^Seccomp_filters:\t(\d+)$", service.machine.run("cat", f"/proc/{pid}/status").stdout, re.M)[1])
               for pid, title in service.machine.processes(UNIT).items()}
    worker = filters.pop("operatord: worker nginx")
    assert filters and worker == 1 + max(filters.values()), filters
    complaints = [line["MESSAGE"] for line in service.machine.journal(UNIT)
                  if "sandbox is not whole" in line["MESSAGE"] or "this system has no" in line["MESSAGE"]]
    landlock = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0  # landlock_create_ruleset(2): the version
    assert len(complaints) == (0 if landlock else 1), complaints


def test_a_bad_configuration_fails_the_start_and_is_not_restarted(service):
    service.write("operatord.yaml", "version: 1\ncontrolers: []\n")
    assert service.machine.run("systemctl", "start", UNIT, check=False).returncode != 0
    time.sleep(1)  # five times RestartSec
    seen = states(service)
    assert (seen["ActiveState"], seen["Result"], seen["ExecMainStatus"], seen["NRestarts"]) == ("failed", "exit-code", "78", "0")
    assert any("operatord.yaml:2:1" in line["MESSAGE"] for line in service.machine.journal(UNIT))


def test_reload(service):
    """Its result is systemctl's exit code and the status line; what is untouched keeps its pid."""
    two(service)
    before, pids = service.main_pid(), {name: worker["pid"] for name, worker in service.workers().items()}
    service.configure(controllers_of("nginx"))
    service.machine.run("systemctl", "reload", UNIT)
    assert service.status_text() == "1 of 1 worker live; reloaded: 0 added, 0 changed, 1 removed, 1 unchanged"
    service.write("operatord.yaml", "version: 1\ncontrolers: []\n")
    assert service.machine.run("systemctl", "reload", UNIT, check=False).returncode != 0
    assert states(service)["ActiveState"] == "active"
    assert re.match(r"1 of 1 worker live; reload failed: .*operatord.yaml:2:1: ", service.status_text())
    service.configure(controllers_of("nginx") + controllers_of("uuid"))
    service.machine.run("systemctl", "kill", "--kill-whom=main", "--signal=HUP", UNIT)
    wait_for("the reload by signal", lambda: service.status_text().startswith("2 of 2 workers live; reloaded: 1 added"))
    assert states(service)["ActiveState"] == "active"
    assert service.main_pid() == before and service.workers()["nginx"]["pid"] == pids["nginx"]


def test_stop_is_quick_and_leaves_nothing(service):
    two(service)
    start = time.monotonic()
    service.machine.run("systemctl", "stop", UNIT)
    assert time.monotonic() - start < 3
    assert states(service)["Result"] == "success" and states(service)["ActiveState"] == "inactive"
    assert not service.machine.processes(UNIT)
    assert not os.path.exists(service.machine.path("/run/operatord"))


def test_a_killed_supervisor_is_restarted_without_its_workers(service):
    two(service)
    before = service.machine.processes(UNIT)
    service.machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT)
    wait_for("a restart", lambda: states(service)["NRestarts"] == "1" and states(service)["ActiveState"] == "active")
    wait_for("both live", lambda: service.status_text() == "2 of 2 workers live")
    after = service.machine.processes(UNIT)
    assert not set(before) & set(after)
    assert sorted(after.values()) == sorted(before.values())


def test_the_watchdog_ends_a_supervisor_that_hangs(service):
    """E195: pings come in time while it turns; it is ended and started again when it does not."""
    service.drop_in("RestartSec=200ms\nWatchdogSec=1s\n")
    two(service)
    before = service.main_pid()
    time.sleep(3)
    assert service.main_pid() == before and states(service)["NRestarts"] == "0"
    service.machine.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", UNIT)
    wait_for("a restart", lambda: states(service)["NRestarts"] == "1" and states(service)["ActiveState"] == "active")
    assert service.main_pid() != before
    assert any("Watchdog timeout" in line["MESSAGE"] for line in service.machine.journal(UNIT))


def test_workers_do_not_speak_for_the_service(service):
    """E197: systemd would say so in the journal, and the variables are gone from what they inherit."""
    two(service)
    for pid, title in service.machine.processes(UNIT).items():
        if "worker" in title:
            service.machine.run("kill", "-KILL", str(pid))
    wait_for("both again", lambda: all(w["restarts"] == 1 and w["state"] == "live" for w in service.workers().values()))
    assert not any("Got notification message" in line["MESSAGE"] for line in service.machine.journal(UNIT))


def test_the_journal_has_priorities(service):
    two(service)
    service.write("operatord.yaml", "version: 1\ncontrolers: []\n")
    service.machine.run("systemctl", "reload", UNIT, check=False)
    pids = {str(pid) for pid, title in service.machine.processes(UNIT).items() if "worker" in title}

    def lines():
        return [line for line in service.machine.journal(UNIT) if line.get("_COMM", "").startswith("operatord")]

    wait_for("lines of workers", lambda: pids & {line["_PID"] for line in lines()})
    for line in lines():
        assert not re.match(r"<\d>|\{|\d{4}-", line["MESSAGE"]), line["MESSAGE"]
    priorities = {line["PRIORITY"] for line in lines()}
    assert "6" in priorities
    assert all(line["PRIORITY"] == "3" for line in lines() if "controlers" in line["MESSAGE"])
    assert any("controlers" in line["MESSAGE"] for line in lines())


def test_a_signal_to_all_of_the_service_reaches_the_supervisor_only(service):
    two(service)
    pids = {name: worker["pid"] for name, worker in service.workers().items()}
    for number in ("USR2", "HUP", "USR1"):
        service.machine.run("systemctl", "kill", f"--signal={number}", UNIT)
    wait_for("the reload", lambda: "; reloaded: " in service.status_text())
    assert {name: worker["pid"] for name, worker in service.workers().items()} == pids
    assert any("level is debug" in line["MESSAGE"] for line in service.machine.journal(UNIT))


def test_several_on_one_machine(service):
    two(service)
    service.machine.write(f"{service.directory}/second/operatord.yaml", json.dumps(
        service.document(controllers_of("uuid"), instance="second", http={"listen": "127.0.0.1:8081"},
                         cluster={"kubeconfig": "/run/credentials/operatord@second.service/kubeconfig"})))
    service.drop_in(unit="operatord@second.service")
    service.start(unit="operatord@second.service")
    wait_for("the second live", lambda: service.machine.show("operatord@second.service", "StatusText")["StatusText"] == "1 of 1 worker live")
    service.machine.run("systemctl", "reload", "operatord@second.service")
    assert "uuid" in service.ctl("--control", "/run/operatord-second/control.sock", "status").stdout
    assert service.status_text() == "2 of 2 workers live"


def test_the_units_are_sound_and_score_well(service):
    for unit in (UNIT, "operatord@.service"):
        path = f"{service.units}/{unit}"
        done = service.machine.run("systemd-analyze", "verify", "--man=no", path)
        assert not [line for line in (done.stdout + done.stderr).splitlines() if "operatord" in line]
        done = service.machine.run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", path, check=False)
        assert done.returncode == 0, done.stdout
