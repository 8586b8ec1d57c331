"""What a host may run short of, and who else may be there: descriptors, processes, memory, the control socket's place, a second instance, noise at the doors."""

import base64
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from kubeclient import load
from sites import Site, controllers_of
from programs import Failed, Operatord, free_port, wait_for


def start_two(site, **top):
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid"), **top))
    return site.start("nginx", "uuid")


def cpu_seconds(pid):
    """What a process has used, itself alone."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connect(site, path=None):
    """A connection to the control socket, or to the port for health and metrics."""
    if path:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(path)
    else:
        peer = socket.create_connection(("127.0.0.1", site.port))
    peer.settimeout(10)
    return peer


@contextlib.contextmanager
def limited(pid, what, limit):
    """A limit of a running process, lowered for a while."""
    soft, hard = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (limit, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, what, (soft, hard))


def test_no_descriptor_left(site):
    """A reload and doors that can't be served: nothing changes, nothing spins, and all is served as soon as it can be."""
    start_two(site)
    before, log = site.pids(), len(site.operatord.log())
    with limited(site.operatord.pid, resource.RLIMIT_NOFILE, 3):
        peers = [connect(site), connect(site), connect(site, site.operatord.control)]
        for peer in peers[:2]:
            peer.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        site.operatord.signal(signal.SIGHUP)
        wait_for("the refusal", lambda: "nothing was changed" in site.operatord.log()[log:])
        spent = cpu_seconds(site.operatord.pid)
        time.sleep(2)  # what is meant is that time goes by
        assert cpu_seconds(site.operatord.pid) - spent < 0.3
    for peer in peers[:2]:
        assert peer.recv(100).startswith(b"HTTP/1.1 200 "), "served after the shortage"
    for peer in peers:
        peer.close()
    site.operatord.ctl("reload")
    assert site.pids() == before


def test_a_log_that_may_not_grow(site, objects):
    """RLIMIT_FSIZE: lines are dropped and counted, supervisor and workers go on, and so do those that are born later."""
    limit = 1 << 20
    log = os.path.join(site.directory, "full.log")
    with open(log, "wb") as file:
        file.write(b"x" * (limit - 1000))
    site.write(site.main(controllers_of("nginx")))
    with open(log, "ab") as file:
        site.operatord = Operatord(site.build, site.directory, site.config, kubeconfig=site.server.kubeconfig, stderr=file,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    site.operatord.wait_live("nginx")
    site.operatord.ctl("reload")  # which is logged
    wait_for("dropped lines", lambda: site.metric("operatord_supervisor_log_lines_dropped_total") > 0)
    wait_for("dropped lines of the worker", lambda: site.metric("operatord_log_lines_dropped_total") > 0)
    pid = site.pids()["nginx"]
    os.kill(pid, signal.SIGKILL)
    wait_for("a new one", lambda: site.pids()["nginx"] not in (pid, 0))
    site.operatord.wait_live("nginx")
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    assert os.path.getsize(log) <= limit


def test_few_descriptors_from_the_start(site):
    """RLIMIT_NOFILE: what can't be had is said, and nobody dies of it; a stop is clean whatever was reached."""
    site.write(site.main(controllers_of("nginx")))
    for limit in (4, 8, 10, 13, 15, 64):
        site.operatord = Operatord(site.build, site.directory, site.config, kubeconfig=site.server.kubeconfig, name=f"with-{limit}",
                                   preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        log = site.operatord.log
        wait_for("live, or not", lambda: not site.operatord.running() or '"state":"live"' in log() or "could not be forked" in log()
                 or "exited with code" in log())
        assert site.operatord.stop() >= 0 and log(), site.operatord.tail()
    assert '"state":"live"' in log() and site.operatord.process.returncode == 0


@pytest.fixture
def open_site(build, server, crds, namespace):
    """One that others may read: pytest closes its own directories to them, and does so again whenever another run starts."""
    with tempfile.TemporaryDirectory(prefix="operatord-e2e-") as directory:
        os.chmod(directory, 0o755)
        made = Site(build, server, directory, namespace)
        yield made
        made.close()


A_USER = 20000 + os.getpid() % 30000  # nobody's, and not that of a run of these tests beside this one
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run it as a user of its own, whose processes nobody else adds to")


@needs_root
def test_no_process_left(open_site):
    """RLIMIT_NPROC, which counts for ordinary users: no death of a worker is forgotten, and no reload takes the supervisor with it."""
    site = open_site
    start_as_user(site, A_USER, 8)
    before = site.pids()
    with others_of(A_USER, 8):
        os.kill(before["nginx"], signal.SIGKILL)
        wait_for("a birth that failed", lambda: "could not be forked" in site.operatord.log())
        answer = site.operatord.ctl("reload", check=False)
        assert answer.returncode == 1 and "nothing was changed" in answer.stderr + answer.stdout
        assert site.operatord.workers()["nginx"]["state"] == "backoff" and site.pids()["uuid"] == before["uuid"]
        assert site.http("/readyz")[0] == 503 and site.http("/livez")[0] == 200
    site.operatord.wait_live("nginx", "uuid", seconds=90)
    site.operatord.ctl("reload")


@needs_root
def test_a_change_that_could_not_be_checked_is_read_later(open_site):
    """reload: auto, while there is no process for the check."""
    site = open_site
    start_as_user(site, A_USER, 8, reload="auto")
    with others_of(A_USER, 8):
        site.drop("greeting.yaml", controllers_of("greeting"))
        wait_for("the refusal", lambda: "nothing was changed" in site.operatord.log())
    site.operatord.wait_live("greeting")


@contextlib.contextmanager
def others_of(uid, count):
    """Processes of that user, which count too."""
    others = [subprocess.Popen(["sleep", "600"], user=uid, group=uid, extra_groups=[]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def whole(kubeconfig):
    """The same with the files that it names within it."""
    document = load(kubeconfig)[0]
    directory = os.path.dirname(kubeconfig)
    for part in [c["cluster"] for c in document["clusters"]] + [u["user"] for u in document["users"]]:
        for key in ("certificate-authority", "client-certificate", "client-key"):
            if key in part:
                with open(os.path.join(directory, part.pop(key)), "rb") as file:
                    part[key + "-data"] = base64.b64encode(file.read()).decode()
    return document


def start_as_user(site, uid, processes, **top):
    """The same as an ordinary user who may have so many processes, in a directory that is theirs."""
    home = pathlib.Path(site.directory) / "home"
    home.mkdir()
    os.chown(home, uid, uid)
    for program in ("operatord", "operatorctl"):  # the build's directory may be closed to others
        shutil.copy(os.path.join(site.build, program), home)
    kubeconfig = home / "kubeconfig"
    kubeconfig.write_text(json.dumps(whole(site.server.kubeconfig)), encoding="utf-8")
    os.chown(kubeconfig, uid, uid)
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid"), **top))
    site.operatord = Operatord(str(home), str(home), site.config, kubeconfig=str(kubeconfig), user=uid, group=uid, extra_groups=[],
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes)))
    site.operatord.wait_live("nginx", "uuid")


@pytest.fixture
def without_sanitizers(build):
    with open(os.path.join(build, "config.h"), encoding="utf-8") as file:
        if "#define WITH_SANITIZERS 1" in file.read():
            pytest.skip("sanitizers reserve terabytes of address space")


def size_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.usefixtures("without_sanitizers")
def test_little_address_space(site):
    """RLIMIT_AS from the start, inherited by all: the supervisor works, or says what is missing and ends by itself."""
    site.write(site.main(controllers_of("nginx")))
    needed = size_bytes(site.start("nginx").pid)
    site.operatord.stop()
    for part in (0.5, 0.8, 0.9, 0.95, 1.0, 1.1, 1.3):
        limit = int(needed * part)
        one = Operatord(site.build, site.directory, site.config, kubeconfig=site.server.kubeconfig, name=f"with-{part}",
                        preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        site.operatord = one
        wait_for("started or not", lambda one=one: not one.running() or '"worker nginx' in one.log())
        assert one.stop() >= 0 and one.log(), f"{part}: {one.tail()}"
        if part >= 1.1:
            assert one.process.returncode == 0, one.tail()


@pytest.mark.usefixtures("without_sanitizers")
def test_no_memory_more(site):
    """RLIMIT_AS of a supervisor that runs: what it has is all it gets. It lives with that, or says so and ends, and no worker is left behind."""
    start_two(site)
    workers, log = list(site.pids().values()), site.operatord.log
    with limited(site.operatord.pid, resource.RLIMIT_AS, size_bytes(site.operatord.pid)):
        for _ in range(20):
            site.operatord.ctl("reload", check=False)
            with contextlib.suppress(OSError):
                site.http("/metrics")
    if site.operatord.running():
        wait_for("a reload", lambda: site.operatord.ctl("reload", check=False).returncode == 0)
        site.operatord.wait_live("nginx", "uuid", seconds=90)
        assert list(site.pids().values()) == workers
    else:
        assert site.operatord.process.returncode > 0 and '"msg":"out of memory"' in log()
        wait_for("no worker left", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))
        site.operatord = None


# --- the control socket's place ---


@pytest.mark.parametrize("what", ["file", "directory", "link", "long", "nowhere"])
def test_a_control_path_that_is_taken_or_impossible(site, what):
    """It says what is wrong and what to do, and leaves what is there as it is."""
    path = os.path.join(site.directory, "taken")
    words = "is no socket, and is left as it is"
    if what == "file":
        site.write("precious", "taken")
    elif what == "directory":
        os.mkdir(path)
    elif what == "link":
        site.write("precious", "target")
        os.symlink("target", path)
    elif what == "long":
        path, words = os.path.join(site.directory, "x" * 108), "too long: it may have 107 bytes"
    else:
        path, words = os.path.join(site.directory, "none", "sock"), "No such file or directory"
    site.write(site.main(controllers_of("nginx")))
    site.operatord = Operatord(site.build, site.directory, site.config, "--control", path, kubeconfig=site.server.kubeconfig)
    assert site.operatord.wait() == 1
    assert words in site.operatord.log() and "worker nginx" not in site.operatord.log()
    if what in ("file", "link"):
        with open(path, encoding="utf-8") as file:
            assert file.read() == "precious"
    assert os.path.islink(path) == (what == "link") and os.path.isdir(path) == (what == "directory")


# --- several on one host ---


def test_a_port_that_is_taken_by_another(site):
    """The second one says which address and leaves the first alone."""
    start_two(site)
    before = site.pids()
    second = Operatord(site.build, site.directory, site.config, kubeconfig=site.server.kubeconfig, name="second")
    assert second.wait() == 1
    assert f"127.0.0.1:{site.port}: Address already in use" in second.log() and "worker" not in second.log()
    assert site.pids() == before and site.http("/readyz")[0] == 200


def test_two_with_one_instance_name(site, objects):
    """Two that want the same of the same objects are a mistake of whoever runs them, but no storm: both come to rest, and write no more."""
    start_two(site)
    document = site.main(controllers_of("nginx"), http={"listen": f"127.0.0.1:{free_port()}"})
    second = Operatord(site.build, site.directory, site.write(document, "second.yaml"), kubeconfig=site.server.kubeconfig, name="second")
    try:
        second.wait_live("nginx")
        for i in range(5):
            objects.create_nginx(f"web-{i}", {"replicas": 1})
        for i in range(5):
            wait_for("the Deployment", lambda i=i: objects.kube.get_or_none(objects.deployment(f"web-{i}-deploy")))

        def versions():
            return [o["metadata"]["resourceVersion"] for path in (objects.deployment(), objects.nginx()) for o in objects.kube.items(path)]

        def at_rest():
            seen = versions()
            time.sleep(2)
            return versions() == seen
        wait_for("rest", at_rest, seconds=30)
    finally:
        assert second.stop() == 0


# --- noise ---


def test_noise_at_the_doors(site):
    """Whatever bytes come, in whatever pieces: the doors go on answering, and nobody is replaced."""
    start_two(site)
    before = site.pids()
    chance = random.Random(1)
    for i in range(200):
        with contextlib.suppress(OSError), connect(site, site.operatord.control if i % 2 else None) as peer:
            peer.settimeout(0.05)
            if i % 4 == 0:
                peer.send(b"GET /metrics HTTP/1.1\r\n")
            for _ in range(chance.randrange(1, 6)):
                peer.send(chance.randbytes(chance.randrange(1, 3000)))
            if i % 3 == 0:
                peer.recv(100)
    for request in (b"GET /livez HTTP/1.1\r\nX: ", b"GET /"):
        with connect(site) as peer, contextlib.suppress(OSError):
            peer.send(request)
            for _ in range(1024):
                peer.sendall(b"x" * 1024)
            peer.sendall(b"\r\n\r\n")
            assert not peer.recv(100).startswith(b"HTTP/1.1 200")
    assert site.pids() == before and site.http("/readyz")[0] == 200


def test_a_storm_of_reloads(site):
    """Ten clients, each of which reloads as fast as it is answered, with signals in between: each gets its answer, nobody is replaced."""
    start_two(site)
    before, codes = site.pids(), []

    def client():
        for _ in range(20):
            codes.append(site.operatord.ctl("reload", check=False).returncode)
    clients = [threading.Thread(target=client) for _ in range(10)]
    for each in clients:
        each.start()
    while any(each.is_alive() for each in clients):
        site.operatord.signal(signal.SIGHUP)
        assert site.http("/readyz")[0] == 200
        time.sleep(0.005)
    assert codes == [0] * 200
    assert site.pids() == before
    assert site.operatord.stop(5) == 0


def test_kills_and_stops_under_load(site, objects):
    """Workers are killed and stopped at random, then the supervisor too, while objects change: in the end every object has what it wants."""
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid"), heartbeat="200ms"))
    site.start("nginx", "uuid")
    chance = random.Random(2)
    for i in range(12):
        objects.create_nginx(f"web-{i}", {"replicas": 1})
    for turn in range(24):
        objects.kube.merge(objects.nginx(f"web-{turn % 12}"), {"spec": {"replicas": turn + 2}})
        if turn % 8 == 7:
            workers = list(site.pids().values())
            site.operatord.process.kill()
            site.operatord.process.wait()
            wait_for("no worker left", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers if pid))
            site.start()
            wait_for("an answer", site.operatord.status)
        else:
            pid = site.pids()[chance.choice(["nginx", "uuid"])]
            number = chance.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV])
            if pid:  # 0: it waits for its next birth
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        time.sleep(chance.random() * 0.2)
    site.operatord.ctl("reload")
    site.operatord.wait_live("nginx", "uuid", seconds=90)
    for i in range(12):
        wait_for(f"web-{i}", lambda i=i: objects.kube.get(objects.deployment(f"web-{i}-deploy"))["spec"]["replicas"] == i + 14, seconds=60)
