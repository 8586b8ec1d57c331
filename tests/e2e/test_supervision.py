"""Workers die, hang and come back; the supervisor stops, answers and stays."""

import os
import shutil
import signal
import subprocess
import time

from sites import controllers_of
from programs import Operatord, free_port, wait_for


def start_two(site, **top):
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid"), **top))
    return site.start("nginx", "uuid")


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def test_a_killed_worker_comes_back_and_works(site, objects):
    start_two(site)
    before = site.pids()
    os.kill(before["nginx"], signal.SIGKILL)
    wait_for("a new one", lambda: site.pids()["nginx"] not in (before["nginx"], 0))
    site.operatord.wait_live("nginx", "uuid")
    assert site.pids()["uuid"] == before["uuid"]
    objects.create_nginx("after", {"replicas": 1})
    wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("after-deploy")))
    assert site.metric("operatord_worker_restarts_total", controller="nginx") == 1
    assert "SIGKILL" in site.operatord.log()


def test_counters_survive_a_death(site, objects):
    start_two(site)
    objects.create_nginx("web", {"replicas": 1})
    before = wait_for("reconciles", lambda: site.metric("controller_runtime_reconcile_total", controller="nginx"))
    pid = site.pids()["nginx"]
    os.kill(pid, signal.SIGKILL)
    wait_for("a new one", lambda: site.pids()["nginx"] not in (pid, 0))
    assert site.metric("controller_runtime_reconcile_total", controller="nginx") >= before


def test_all_workers_killed_at_once(site):
    start_two(site)
    before = site.pids()
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    wait_for("both new", lambda: all(site.pids()[name] not in (before[name], 0) for name in before))
    site.operatord.wait_live("nginx", "uuid")


def test_a_stopped_worker_is_noticed_and_replaced(site):
    """E209: a worker that does not turn is named by /healthz or replaced, within its remedy."""
    start_two(site, heartbeat="200ms")
    pid = site.pids()["nginx"]
    os.kill(pid, signal.SIGSTOP)
    wait_for("a new one", lambda: site.pids()["nginx"] not in (pid, 0), seconds=30)
    site.operatord.wait_live("nginx", "uuid")
    assert not os.path.exists(f"/proc/{pid}")


def test_stops_quickly_and_leaves_nothing(site):
    """E183."""
    start_two(site)
    workers = children_of(site.operatord.pid)
    start = time.monotonic()
    assert site.operatord.stop() == 0
    assert time.monotonic() - start < 2
    assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)


def test_workers_end_with_a_killed_supervisor(site):
    """E177, E181."""
    start_two(site)
    workers = list(site.pids().values())
    site.operatord.process.kill()
    site.operatord.process.wait()
    wait_for("no worker left", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), seconds=5)


def test_each_signal_stops_cleanly(site):
    """E193."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        start_two(site)
        site.operatord.signal(number)
        assert site.operatord.wait() == 0


def test_titles_name_the_worker(site):
    start_two(site)
    with open(f"/proc/{site.pids()['nginx']}/cmdline", encoding="utf-8") as file:
        assert file.read().rstrip("\0") == "operatord: worker nginx"


def test_a_second_one_on_the_same_control_socket_is_refused(site):
    start_two(site)
    port = free_port()
    second = site.write(site.main(controllers_of("nginx"), http={"listen": f"127.0.0.1:{port}"}), "second.yaml")
    other = Operatord(site.build, site.directory, second, "--control", site.operatord.control, name="second")
    assert other.wait() == 1
    assert str(site.operatord.pid) in other.log()


def test_health_pages(site):
    """E203, E205, E211."""
    start_two(site)
    for path in ("/livez", "/healthz", "/readyz"):
        assert site.http(path)[0] == 200, path
    assert "nginx" in site.http("/readyz?verbose")[1]
    status, text, headers = site.http("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]
    assert len(families) == len(set(families))
    assert site.http("/nothing")[0] == 404


def test_the_page_passes_promtool(site, objects):
    promtool = shutil.which("promtool")
    assert promtool, "promtool is among the packages that scripts/test installs"
    start_two(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("a reconcile", lambda: site.metric("controller_runtime_reconcile_total", controller="nginx"))
    done = subprocess.run([promtool, "check", "metrics"], input=site.http("/metrics")[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
