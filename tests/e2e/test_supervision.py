"""Workers die, hang and come back; the supervisor stops, answers and stays."""

import contextlib
import copy
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from sites import controllers_of
from programs import Operatord, Program, free_port, wait_for


def start_two(site, **top):
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid"), **top))
    return site.start("nginx", "uuid")


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_gone(pid):
    """Ended; whoever it was left to may not have waited for it yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


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


def test_stuck_workers_end_with_a_killed_supervisor(site, objects):
    """One that is stopped, and one in the middle of a step that never ends, end as any other, and at once."""
    nginx = controllers_of("nginx")
    nginx[0]["renderTimeout"] = "10s"
    nginx[0]["children"][0]["when"] = "${until(false; .)}"
    site.write(site.main(nginx + controllers_of("uuid"), heartbeat="60s"))
    site.start("nginx", "uuid")
    objects.create_nginx("endless", {"replicas": 1})
    wait_for("a worker at work", lambda: site.operatord.workers()["nginx"]["busy"])
    workers = list(site.pids().values())
    os.kill(site.pids()["uuid"], signal.SIGSTOP)
    site.operatord.process.kill()
    site.operatord.process.wait()
    wait_for("no worker left", lambda: all(is_gone(pid) for pid in workers), seconds=1)


def test_a_supervisor_that_was_stopped_ends_nobody(site):
    """Alone, then with its workers: a frozen machine. Deadlines count from when it goes on."""
    start_two(site, heartbeat="200ms")
    before = site.pids()
    for frozen in ((), tuple(before.values())):
        for pid in (site.operatord.pid, *frozen):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(2)  # ten periods: what is meant is that time goes by
        for pid in (site.operatord.pid, *frozen):
            os.kill(pid, signal.SIGCONT)
        time.sleep(1.5)
        assert site.pids() == before
    assert " hangs" not in site.operatord.log() and "was away for " in site.operatord.log()


def test_a_signal_to_everybody_is_the_same_as_one_to_the_supervisor(site):
    """As an outer init, a container runtime or a terminal may do it."""
    start_two(site)
    everybody = [site.operatord.pid, *site.pids().values()]
    for pid in everybody:
        with contextlib.suppress(ProcessLookupError):  # the supervisor's word may have been quicker
            os.kill(pid, signal.SIGTERM)
    assert site.operatord.wait() == 0
    assert not any(os.path.exists(f"/proc/{pid}") for pid in everybody)
    assert "SIGKILL" not in site.operatord.log()


def test_a_second_signal_is_quicker(site):
    start_two(site, stopGrace="60s")
    site.operatord.signal(signal.SIGTERM)
    site.operatord.signal(signal.SIGTERM)
    start = time.monotonic()
    assert site.operatord.wait() == 0
    assert time.monotonic() - start < 1


def test_a_worker_that_ignores_the_stop_is_named_and_killed(site):
    """A stopped process takes no record, and no SIGTERM before it goes on: then it goes on, and leaves. One that is stuck is killed."""
    nginx = controllers_of("nginx")
    site.write(site.main(nginx, heartbeat="60s", stopGrace="1s", killGrace="500ms"))
    site.start("nginx")
    os.kill(site.pids()["nginx"], signal.SIGSTOP)
    assert site.operatord.stop() == 0
    assert "worker nginx (pid " in site.operatord.log() and "has not stopped yet: SIGTERM" in site.operatord.log()


def test_a_stuck_worker_is_named_and_killed_at_a_stop(site, objects):
    nginx = controllers_of("nginx")
    nginx[0]["renderTimeout"] = "10s"
    nginx[0]["children"][0]["when"] = "${until(false; .)}"
    site.write(site.main(nginx, heartbeat="60s", stopGrace="1s", killGrace="500ms"))
    site.start("nginx")
    objects.create_nginx("endless", {"replicas": 1})
    wait_for("a worker at work", lambda: site.operatord.workers()["nginx"]["busy"])
    start = time.monotonic()
    assert site.operatord.stop() == 1
    assert 1.4 < time.monotonic() - start < 5
    assert "does not end: SIGKILL" in site.operatord.log()


NO_ANSWER = """import os, socket, sys
name = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
name.bind(("127.0.0.1", 53))
if os.fork() == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.wait()
"""


def test_stops_while_a_name_is_being_resolved(site):
    """In a network of its own, where the only name server never answers: libcurl's resolver thread hangs for 5 s and more."""
    isolated = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    if subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode != 0 or shutil.which("ip") is None:
        pytest.skip("no namespaces of our own here")
    kubeconfig = {"apiVersion": "v1", "kind": "Config", "current-context": "x",
                  "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}], "users": [{"name": "x", "user": {"token": "t"}}],
                  "clusters": [{"name": "x", "cluster": {"server": "https://api.nowhere.example:6443"}}]}
    site.write(kubeconfig, "kubeconfig")
    site.write("nameserver 127.0.0.1\n", "resolv.conf")
    site.write(NO_ANSWER, "no_answer.py")
    site.write(site.main(controllers_of("nginx")))
    control = os.path.join(site.directory, "sock")
    script = (f"ip link set lo up && mount --bind {site.directory}/resolv.conf /etc/resolv.conf && "
              f"exec {sys.executable} {site.directory}/no_answer.py {site.build}/operatord -c {site.config} --control {control}")
    outer = Program(site.directory, "isolated", [*isolated, "sh", "-c", script],
                    environment={**os.environ, "KUBECONFIG": f"{site.directory}/kubeconfig"})
    wait_for("a worker that asks", lambda: "server https://" in outer.log())
    time.sleep(0.5)  # the query is under way
    assert "can't" not in outer.log(), outer.tail()
    operatord = children_of(outer.pid)[0]
    start = time.monotonic()
    os.kill(operatord, signal.SIGTERM)
    outer.wait()
    assert time.monotonic() - start < 2, outer.tail()
    assert '"msg":"stopped"' in outer.log() and "SIGTERM" not in outer.log()


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


@pytest.fixture(params=["full-pipe", "full-disk", "closed-pipe"])
def bad_stderr(request):
    """A standard error that takes nothing, or nothing any more."""
    if request.param == "full-disk":
        fd = os.open("/dev/full", os.O_WRONLY | os.O_CLOEXEC)
        yield fd
    else:
        reader, fd = os.pipe2(os.O_CLOEXEC)
        if request.param == "closed-pipe":
            os.close(reader)
        else:
            os.set_blocking(fd, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(fd, b"x" * 4096)
            os.set_blocking(fd, True)
        yield fd
        if request.param == "full-pipe":
            os.close(reader)
    os.close(fd)


def test_a_log_that_nobody_takes_stops_nothing(site, objects, bad_stderr):
    """Lines are dropped and counted; work, control and a stop go on."""
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx", stderr=bad_stderr)
    objects.create_nginx("web")
    wait_for("its child", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    os.kill(site.pids()["nginx"], signal.SIGKILL)
    site.operatord.wait_live("nginx")
    assert "0 changed" in site.operatord.ctl("reload")
    assert site.metric("operatord_supervisor_log_lines_dropped_total") > 0
    assert site.metric("operatord_log_lines_dropped_total") > 0
    assert site.operatord.stop(5) == 0


def test_a_stop_between_two_writes(site, objects):
    """E185: one child is written, the other waits for its turn. The reconcile ends or is repeated, and no other begins."""
    controllers = controllers_of("greeting")
    second = copy.deepcopy(controllers[0]["children"][0])
    second["id"] = "second"
    second["template"]["metadata"]["name"] = "${.metadata.name}-second"
    controllers[0]["children"].append(second)
    controllers[0]["writes"] = {"perSecond": 0.5, "burst": 1}
    site.write(site.main(controllers))
    site.start("greeting")
    objects.create(objects.greeting(), "Greeting", "one")
    wait_for("the first child", lambda: objects.kube.get_or_none(objects.configmap("one")))
    assert objects.kube.get_or_none(objects.configmap("one-second")) is None
    site.operatord.signal(signal.SIGTERM)
    objects.create(objects.greeting(), "Greeting", "two")
    assert site.operatord.wait(25) == 0
    assert objects.kube.get_or_none(objects.configmap("two")) is None
    del controllers[0]["writes"]
    site.write(site.main(controllers))
    site.start("greeting")
    for name in ("one", "two"):
        wait_for(f"{name} Ready", lambda name=name: objects.condition(objects.greeting(name)).get("status") == "True")
        assert objects.kube.get_or_none(objects.configmap(name)) and objects.kube.get_or_none(objects.configmap(f"{name}-second"))
